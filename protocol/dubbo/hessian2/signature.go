package hessian2

import (
	"fmt"
	"strings"
	"unicode"
)

// Signature is a method as Java names it, such as find(long,java.lang.String).
type Signature struct {
	Name       string
	Types      []string // Java names: long, byte[], java.util.List, com.x.Outer$Inner[]
	Descriptor string   // JVM descriptor of the parameters: J[BLjava/util/List;…
}

// String returns name(type,type).
func (s Signature) String() string { return s.Name + "(" + strings.Join(s.Types, ",") + ")" }

// ParseSignature reads a method in Java's words: a name and, in parentheses, the
// erased parameter types as they are declared, without parameter names. "..." is an
// array. Errors name the part that does not fit and what to write instead; they
// count parameters from 0, as [ArgumentError] counts arguments.
func ParseSignature(text string) (Signature, error) {
	bad := func(format string, args ...any) (Signature, error) {
		return Signature{}, fmt.Errorf("hessian2: method %q: %s", text, fmt.Sprintf(format, args...))
	}
	name, list, found := strings.Cut(text, "(")
	s := Signature{Name: strings.TrimSpace(name)}
	if !found {
		if err := CheckMethodName(s.Name); err != nil {
			return Signature{}, err
		}
		return bad("the parameter types are missing: write %s() if there are none", s.Name)
	}
	if !isIdentifier(s.Name) {
		return bad("%q is no name of a Java method", s.Name)
	}
	list, rest, closed := strings.Cut(list, ")")
	switch {
	case !closed:
		return bad("the ) after the parameter types is missing")
	case strings.TrimSpace(rest) != "":
		return bad("%q after the parameter types", strings.TrimSpace(rest))
	case strings.TrimSpace(list) == "":
		return s, nil
	}
	parts := strings.Split(list, ",")
	for i, p := range parts {
		t, err := javaType(p, i == len(parts)-1)
		if err != nil {
			return bad("parameter %d: %v", i, err)
		}
		s.Types = append(s.Types, t)
	}
	s.Descriptor = Descriptor(s.Types)
	return s, nil
}

// CheckMethodName returns an error if no Java method can have the name.
func CheckMethodName(name string) error {
	if strings.Contains(name, ")") && !strings.Contains(name, "(") { // meant as a signature
		return fmt.Errorf("hessian2: method %q: the ( before the parameter types is missing", name)
	}
	if !isIdentifier(name) {
		return fmt.Errorf("hessian2: %q is no name of a Java method", name)
	}
	return nil
}

var primitives = map[string]byte{
	"boolean": 'Z', "byte": 'B', "char": 'C', "double": 'D', "float": 'F', "int": 'I', "long": 'J', "short": 'S',
}

// Descriptor returns the JVM descriptor of parameter types as [ParseSignature] and
// [InferTypes] name them.
func Descriptor(types []string) string {
	var b strings.Builder
	for _, t := range types {
		base := strings.TrimRight(t, "[]")
		for range (len(t) - len(base)) / 2 {
			b.WriteByte('[')
		}
		if p, ok := primitives[base]; ok {
			b.WriteByte(p)
			continue
		}
		b.WriteByte('L')
		b.WriteString(strings.ReplaceAll(base, ".", "/"))
		b.WriteByte(';')
	}
	return b.String()
}

// javaType checks the name of a parameter type and returns its canonical form.
func javaType(text string, last bool) (string, error) {
	base, dims := strings.TrimSpace(text), 0
	if b, variadic := strings.CutSuffix(base, "..."); variadic {
		if !last {
			return "", fmt.Errorf("%q: only the last parameter can be variadic", base)
		}
		base, dims = strings.TrimSpace(b), 1
	}
	for {
		b, array := strings.CutSuffix(base, "[]")
		if !array {
			break
		}
		base, dims = strings.TrimSpace(b), dims+1
	}
	switch _, primitive := primitives[base]; {
	case base == "":
		return "", fmt.Errorf("the type is missing")
	case dims > maxDimensions:
		return "", fmt.Errorf("%d dimensions are more than Java has", dims)
	case primitive:
	case base == "void":
		return "", fmt.Errorf("void is no parameter type; write () for none")
	case strings.ContainsAny(base, "<>?"):
		erased, _, _ := strings.Cut(base, "<")
		return "", fmt.Errorf("%q: Java erases generics, write %s", base, strings.TrimSpace(erased))
	case strings.ContainsAny(base, "/;"):
		return "", fmt.Errorf("%q looks like a descriptor, write a name such as java.lang.String", base)
	case strings.ContainsFunc(base, unicode.IsSpace):
		return "", fmt.Errorf("%q: write the type alone, without a parameter name", base)
	case fullNames[base] != "":
		return "", fmt.Errorf("%q: write %s", base, fullNames[base])
	case !isClassName(base):
		return "", fmt.Errorf("%q is no name of a Java type", base)
	}
	return base + strings.Repeat("[]", dims), nil
}

// fullNames tells what is meant by names that Java source shortens, or by Go's.
var fullNames = buildFullNames()

func buildFullNames() map[string]string {
	m := map[string]string{
		"bool": "boolean", "int8": "byte", "int16": "short", "int32": "int", "int64": "long",
		"uint8": "byte", "float32": "float", "float64": "double", "rune": "char",
		"string": "java.lang.String", "any": "java.lang.Object",
	}
	for pkg, names := range map[string]string{
		"java.lang": "String Object Integer Long Short Byte Boolean Character Float Double Number CharSequence Class Enum Iterable Throwable Exception RuntimeException",
		"java.util": "List Map Set Collection Date ArrayList LinkedList HashMap LinkedHashMap TreeMap HashSet TreeSet Queue Optional UUID Locale Calendar Properties",
		"java.math": "BigDecimal BigInteger",
		"java.time": "LocalDate LocalTime LocalDateTime Instant Duration ZonedDateTime OffsetDateTime",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = pkg + "." + name
		}
	}
	return m
}

// isClassName reports whether s can be the binary name of a Java class.
func isClassName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isIdentifier(part) {
			return false
		}
	}
	return true
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
