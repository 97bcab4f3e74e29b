package dubbotest

import (
	"fmt"
	"strings"
)

var primitives = map[byte]string{
	'Z': "boolean", 'B': "byte", 'C': "char", 'D': "double", 'F': "float", 'I': "int", 'J': "long", 'S': "short",
}

// primitiveTypes are their names.
var primitiveTypes = func() map[string]byte {
	m := map[string]byte{}
	for b, name := range primitives {
		m[name] = b
	}
	return m
}()

// parameterTypes reads a JVM descriptor of parameters: J[BLjava/util/List; is long,
// byte[], java.util.List.
func parameterTypes(descriptor string) ([]string, error) {
	types := []string{}
	for rest := descriptor; rest != ""; {
		base := strings.TrimLeft(rest, "[")
		dims := strings.Repeat("[]", len(rest)-len(base))
		var name string
		switch {
		case base == "":
		case base[0] == 'L':
			class, after, ok := strings.Cut(base[1:], ";")
			if ok {
				name, rest = strings.ReplaceAll(class, "/", "."), after
			}
		default:
			name, rest = primitives[base[0]], base[1:]
		}
		if name == "" {
			return nil, fmt.Errorf("descriptor %q is none", descriptor)
		}
		types = append(types, name+dims)
	}
	return types, nil
}
