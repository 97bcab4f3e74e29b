package hessian2

import (
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java8_time"
	"github.com/apache/dubbo-go-hessian2/java_util"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSignatures(t *testing.T) {
	for text, want := range map[string]Signature{
		"find(long)":                       {"find", []string{"long"}, "J"},
		"find(java.lang.String)":           {"find", []string{"java.lang.String"}, "Ljava/lang/String;"},
		"put(java.util.List,byte[])":       {"put", []string{"java.util.List", "byte[]"}, "Ljava/util/List;[B"},
		"all(com.x.Outer$Inner[])":         {"all", []string{"com.x.Outer$Inner[]"}, "[Lcom/x/Outer$Inner;"},
		"sum(int, long...)":                {"sum", []string{"int", "long[]"}, "I[J"},
		"matrix(double[][],java.util.Map)": {"matrix", []string{"double[][]", "java.util.Map"}, "[[DLjava/util/Map;"},
		"rows(int[]...)":                   {"rows", []string{"int[][]"}, "[[I"},
		"none()":                           {"none", nil, ""},
		" none ( ) ":                       {"none", nil, ""},
		" f ( boolean , char [] , short , float , byte ) ": {"f", []string{"boolean", "char[]", "short", "float", "byte"}, "Z[CSFB"},
		"$echo(java.lang.Object)":                          {"$echo", []string{"java.lang.Object"}, "Ljava/lang/Object;"},
		"größe(Ünicode)":                                   {"größe", []string{"Ünicode"}, "LÜnicode;"},
	} {
		got, err := ParseSignature(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := ParseSignature(got.String())
		require.NoError(t, err)
		assert.Equal(t, want, again, "what it prints can be read")
	}
}

func TestBadSignaturesNameThePart(t *testing.T) {
	for text, want := range map[string]string{
		"find":                                 `method "find": the parameter types are missing: write find() if there are none`,
		"":                                     `"" is no name of a Java method`,
		"(long)":                               `"" is no name of a Java method`,
		"a.b(long)":                            `"a.b" is no name of a Java method`,
		"1st(long)":                            `"1st" is no name of a Java method`,
		"find(long":                            `the ) after the parameter types is missing`,
		"find(long) int":                       `"int" after the parameter types`,
		"find(long))":                          `")" after the parameter types`,
		"find(long,)":                          `parameter 1: the type is missing`,
		"find(,long)":                          `parameter 0: the type is missing`,
		"find(void)":                           `void is no parameter type; write () for none`,
		"find(String)":                         `parameter 0: "String": write java.lang.String`,
		"find(List)":                           `"List": write java.util.List`,
		"find(int64)":                          `"int64": write long`,
		"find(string)":                         `"string": write java.lang.String`,
		"find(java.util.List<java.lang.Long>)": `"java.util.List<java.lang.Long>": Java erases generics, write java.util.List`,
		"find(java.util.Map<K,V>)":             `Java erases generics, write java.util.Map`,
		"find(long id)":                        `"long id": write the type alone, without a parameter name`,
		"find(Ljava/lang/String;)":             `looks like a descriptor, write a name such as java.lang.String`,
		"find(int...,long)":                    `"int...": only the last parameter can be variadic`,
		"find(java..lang)":                     `"java..lang" is no name of a Java type`,
		"find(a-b)":                            `"a-b" is no name of a Java type`,
		"find([]int)":                          `"[]int" is no name of a Java type`,
		"find(int" + strings.Repeat("[]", 300) + ")": `300 dimensions are more than Java has`,
	} {
		_, err := ParseSignature(text)
		if assert.Error(t, err, text) {
			assert.Contains(t, err.Error(), want)
		}
	}
	assert.NoError(t, CheckMethodName("$invoke"))
	assert.EqualError(t, CheckMethodName("a b"), `hessian2: "a b" is no name of a Java method`)
}

// A signature with one parenthesis is not taken for a name.
func TestMissingParenthesisIsNamed(t *testing.T) {
	_, err := ParseSignature("overload(int")
	assert.EqualError(t, err, `hessian2: method "overload(int": the ) after the parameter types is missing`)
	_, err = ParseSignature("overload int)")
	assert.EqualError(t, err, `hessian2: method "overload int)": the ( before the parameter types is missing`)
	assert.Equal(t, err, CheckMethodName("overload int)"), "whoever takes it for a name")
	_, err = ParseSignature(")")
	assert.ErrorContains(t, err, "the ( before the parameter types is missing")
	_, err = ParseSignature("overload)int(")
	assert.ErrorContains(t, err, `"overload)int" is no name of a Java method`)
}

// Parameters of a signature and arguments of a call count from the same number.
func TestParametersCountAsArguments(t *testing.T) {
	_, err := ParseSignature("find(long,String)")
	assert.ErrorContains(t, err, "parameter 1: ")
	assert.ErrorContains(t, ValidateArguments([]string{"long", "int"}, []any{int64(1), "x"}), "argument 1 ")
	_, err = InferTypes([]any{int64(1), 1})
	assert.ErrorContains(t, err, "argument 1 ")
	_, err = AppendArguments(nil, []any{int64(1), make(chan int)})
	assert.ErrorContains(t, err, "argument 1 ")
}

func TestInferredTypes(t *testing.T) {
	register(t)
	now := time.Now()
	args := []any{
		true, int8(1), int16(1), int32(1), int64(1), float32(1), float64(1),
		ptr(true), ptr(int8(1)), ptr(int16(1)), ptr(int32(1)), ptr(int64(1)), ptr(float32(1)), ptr(1.0),
		"s", ptr("s"), []byte{1}, now, &now, &User{}, Woman, ptr(Woman), hessian.Rune('x'), ptr(hessian.Rune('x')), (*int64)(nil), (*User)(nil),
		java8_time.LocalDate{}, &java8_time.ZonedDateTime{}, java8_time.ZoneOffSet{}, java_util.LocaleHandle{}, java_util.UUID{}, decimal(t, "1"), integer(t, "1"), &paramed{},
	}
	want := []string{
		"boolean", "byte", "short", "int", "long", "float", "double",
		"java.lang.Boolean", "java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double",
		"java.lang.String", "java.lang.String", "byte[]", "java.util.Date", "java.util.Date", "com.demo.User", "com.demo.Sex", "com.demo.Sex",
		"char", "java.lang.Character", "java.lang.Long", "com.demo.User",
		"java.time.LocalDate", "java.time.ZonedDateTime", "java.time.ZoneOffset", "java.util.Locale", "java.util.UUID",
		"java.math.BigDecimal", "java.math.BigInteger", "com.x.Declared",
	}
	got, err := InferTypes(args)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	key, err := AppendInferred(nil, args)
	require.NoError(t, err)
	assert.Equal(t, strings.Join(want, ","), string(key))
	assert.Equal(t, "ZBSIJFDLjava/lang/Boolean;", Descriptor(got[:8]))
	assert.NoError(t, ValidateArguments(got[:24], args[:24]), "what is inferred fits")

	for list, args := range map[string][]any{
		"(java.lang.String,java.util.List)": {"a", []string{}},
		"(long,java.lang.Object)":           {7, nil},
		"(java.util.Map)":                   {map[string]string{}},
		"(long)":                            {uint8(1)},
		"(java.lang.Object)":                {struct{}{}},
		"(java.lang.String,boolean,double)": {namedString("x"), namedBool(true), namedFloat(1)},
	} {
		_, err := InferTypes(args)
		if assert.Error(t, err) {
			assert.Contains(t, err.Error(), "its Java type cannot be inferred; state the types behind the method's name as they are declared, such as "+list)
		}
		b, err2 := AppendInferred([]byte("x"), args)
		assert.Equal(t, err, err2)
		assert.Equal(t, byte('x'), b[0])
	}
	_, err = InferTypes([]any{"a", []string{}})
	assert.EqualError(t, err, "hessian2: argument 1 ([]string): its Java type cannot be inferred; state the types behind the method's name as they are declared, such as (java.lang.String,java.util.List)")
}

// paramed is sent as one class and declared as another.
type paramed struct{ A int32 }

func (*paramed) JavaClassName() string { return "com.x.Concrete" }
func (*paramed) JavaParamName() string { return "com.x.Declared" }

func TestArgumentsAgainstDeclaredTypes(t *testing.T) {
	register(t)
	now := time.Now()
	for declared, fitting := range map[string][]any{
		"boolean":              {true, ptr(true), namedBool(true)},
		"java.lang.Boolean":    {true, nil, (*bool)(nil)},
		"byte":                 {int8(1), 127, uint8(5), namedInt(-128)},
		"short":                {int16(1), 32767, uint8(200)},
		"int":                  {1, int64(1 << 30), int8(1), uint32(7), ptr(int32(7))},
		"java.lang.Integer":    {1, nil, (*int32)(nil)},
		"long":                 {1, int32(1), uint64(1), time.Second},
		"float":                {float32(1), 0.5},
		"double":               {float32(1), 0.5, namedFloat(0.5)},
		"java.lang.Double":     {0.5, nil},
		"char":                 {"x", "中", hessian.Rune('x')},
		"java.lang.Character":  {"x", nil},
		"java.lang.String":     {"x", ptr("x"), nil, namedString("x"), hessian.Rune('x')},
		"java.lang.Number":     {1, 0.5, decimal(t, "1"), integer(t, "1")},
		"java.util.Date":       {now, &now, nil},
		"java.lang.Object":     {1, "x", nil, []byte{1}, map[string]any{}, &User{}},
		"byte[]":               {[]byte{1}, []int8{1}, [2]byte{}, nil, []any{}},
		"char[]":               {"text", nil},
		"int[]":                {[]int32{1}, []any{1}, [1]int32{}},
		"long[]":               {[]int64{1}, []int{1}},
		"double[]":             {[]float64{1}},
		"java.lang.String[]":   {[]string{"x"}, []*string{}, []any{"x"}, nil},
		"java.lang.Integer[]":  {[]*int32{nil}, []int32{1}},
		"java.lang.Object[]":   {[]any{1}, []string{"x"}},
		"int[][]":              {[][]int32{{1}}, []any{[]int32{1}}},
		"java.util.Date[]":     {[]time.Time{now}},
		"com.demo.User[]":      {[]*User{nil}, []User{}, []any{}, []map[string]any{}},
		"com.demo.Sex[]":       {[]Sex{Man}},
		"java.util.List":       {[]string{"x"}, []any{}, []*User{}, nil, [1]int{}, [][]byte{}},
		"java.util.Set":        {[]string{"x"}},
		"java.util.Collection": {[]any{}},
		"java.util.Map":        {map[string]string{}, nil, map[any]any{}},
		"java.util.TreeMap":    {map[string]string{}},
		"com.demo.User":        {&User{}, User{}, nil, (*User)(nil), map[string]any{"_class": "com.demo.Sub"}, namedMap{}},
		"com.demo.Sex":         {Man, ptr(Man), nil},
		"java.math.BigDecimal": {decimal(t, "1")},
		"java.time.LocalDate":  {java8_time.LocalDate{}},
		"java.sql.Timestamp":   {now},
	} {
		for _, v := range fitting {
			assert.NoError(t, ValidateArguments([]string{declared}, []any{v}), "%T for %s", v, declared)
			_, err := Append(nil, v)
			assert.NoError(t, err, "what fits can be sent")
		}
	}
	for declared, others := range map[string][]any{
		"boolean":              {"true", 1, nil},
		"byte":                 {128, "x", 0.5, nil},
		"short":                {40000, uint16(40000)},
		"int":                  {int64(1 << 31), "1", true, nil, (*int32)(nil), 0.5, Man, hessian.Rune('x')},
		"long":                 {"42", uint64(1 << 63), nil},
		"float":                {1e300, "1", 1},
		"double":               {1, "1", nil},
		"char":                 {"xy", "", "😀", 'x', nil},
		"java.lang.String":     {1, []byte("x"), &User{}, Man, []string{}},
		"java.lang.Number":     {"1", true},
		"java.util.Date":       {int64(0), "now"},
		"byte[]":               {"x", []string{}, []int32{}},
		"char[]":               {[]string{"x"}, []any{}},
		"int[]":                {[]int64{1}, []int16{1}, []*int32{}, 1, []byte{1}, []Sex{}},
		"long[]":               {[]int32{1}},
		"java.lang.String[]":   {[]int{1}, "x", []byte{}},
		"java.lang.Integer[]":  {[]string{}, []byte{}},
		"java.lang.Object[]":   {[]byte{1}, map[string]any{}},
		"int[][]":              {[]int32{1}, [][]int64{}},
		"char[][]":             {[][]string{}},
		"java.util.Date[]":     {[]string{}},
		"com.demo.User[]":      {[]string{}, []int{}, &User{}},
		"java.util.List":       {"x", map[string]any{}, []byte{1}, &User{}, 7},
		"java.util.Map":        {[]string{}, "x", &User{}},
		"com.demo.User":        {map[string]any{"name": "x"}, "x", 7, []*User{}, now, true, 0.5, []byte{}},
		"java.math.BigDecimal": {"1", 1.5, now},
	} {
		for _, v := range others {
			err := ValidateArguments([]string{"long", declared}, []any{int64(1), v})
			var e *ArgumentError
			if assert.ErrorAs(t, err, &e, "%T for %s", v, declared) {
				assert.Equal(t, 1, e.Index)
				assert.Contains(t, err.Error(), declared)
			}
		}
	}
	for want, c := range map[string]struct {
		types []string
		args  []any
	}{
		"hessian2: 1 arguments given, but the method declares 2: (long,java.lang.String)":                                                                              {[]string{"long", "java.lang.String"}, []any{1}},
		"hessian2: argument 0 (string): it does not fit the declared type long":                                                                                        {[]string{"long"}, []any{"secret"}},
		"hessian2: argument 0 (<nil>): null for the primitive type int":                                                                                                {[]string{"int"}, []any{nil}},
		"hessian2: argument 0 (int64): the number 2147483648 does not fit the declared type int":                                                                       {[]string{"int"}, []any{int64(1 << 31)}},
		"hessian2: argument 0 (int): it does not fit the declared type double: give a float64":                                                                         {[]string{"double"}, []any{1}},
		"hessian2: argument 0 (map[string]interface {}): it does not fit the declared type com.x.A: a map is sent as a java.util.Map; give a struct with a Java class": {[]string{"com.x.A"}, []any{map[string]any{}}},
	} {
		assert.EqualError(t, ValidateArguments(c.types, c.args), want)
	}
	assert.NoError(t, ValidateArguments(nil, nil))
	assert.NoError(t, ValidateArguments([]string{}, nil))
}

func TestDescriptorsOfAnyTypes(t *testing.T) {
	name := rapid.StringMatching(`([a-z]{1,5}\.){0,3}[A-Z][A-Za-z0-9$_]{3,9}x`)
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			base := rapid.OneOf(rapid.SampledFrom([]string{"int", "long", "boolean"}), name).Draw(t, "base")
			return base + strings.Repeat("[]", rapid.IntRange(0, 3).Draw(t, "dims"))
		})).Draw(t, "types")
		s, err := ParseSignature("m(" + strings.Join(types, " , ") + ")")
		require.NoError(t, err)
		assert.Equal(t, len(types), len(s.Types))
		assert.Equal(t, Descriptor(types), s.Descriptor)
		assert.Equal(t, strings.Count(strings.Join(types, ""), "[]"), strings.Count(s.Descriptor, "["))
	})
}
