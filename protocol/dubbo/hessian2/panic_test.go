package hessian2

import (
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
)

type (
	panickyText  struct{ A int32 }
	panickyClass struct{ A int32 }
	panickyParam struct{ A int32 }
	panickyEnum  hessian.JavaEnum
)

func (panickyText) String() string                           { panic("no text") }
func (panickyClass) JavaClassName() string                   { panic("no class") }
func (panickyParam) JavaClassName() string                   { return "com.x.PanickyParam" }
func (p *panickyParam) JavaParamName() string                { _ = p.A; panic("no parameter") }
func (panickyEnum) JavaClassName() string                    { panic("no class") }
func (panickyEnum) String() string                           { panic("no constant") }
func (panickyEnum) EnumValue(string) (none hessian.JavaEnum) { return }

// The text falls back to the content where the user's methods panic.
func TestTextOfPanickyTypes(t *testing.T) {
	for want, v := range map[string]any{
		"hessian2.panickyText{a=7}":  panickyText{A: 7},
		"hessian2.panickyClass{a=7}": &panickyClass{A: 7},
		"3":                          panickyEnum(3),
		"[hessian2.panickyText{a=1}, hessian2.panickyClass{a=2}]": []any{&panickyText{A: 1}, panickyClass{A: 2}},
		"{4=hessian2.panickyText{a=1}}":                           map[panickyEnum]panickyText{4: {A: 1}},
	} {
		assert.NotPanics(t, func() { assert.Equal(t, want, Text(v)) })
	}
}

func TestRegisterPanickyTypes(t *testing.T) {
	assert.EqualError(t, Register(panickyClass{}), "hessian2: register example 0 (hessian2.panickyClass): JavaClassName of hessian2.panickyClass panics: no class")
	assert.ErrorContains(t, Register(panickyEnum(0)), "JavaClassName of hessian2.panickyEnum panics: no class")
}

func TestInferPanickyTypes(t *testing.T) {
	for want, v := range map[string]any{
		"JavaClassName of hessian2.panickyClass panics: no class":       panickyClass{},
		"JavaClassName of hessian2.panickyEnum panics: no class":        panickyEnum(0),
		"JavaParamName of *hessian2.panickyParam panics: no parameter":  &panickyParam{},
		"JavaParamName of *hessian2.panickyParam panics: runtime error": (*panickyParam)(nil),
	} {
		_, err := InferTypes([]any{int64(1), v})
		var e *ArgumentError
		if assert.ErrorAs(t, err, &e) {
			assert.Equal(t, 1, e.Index)
			assert.Contains(t, e.Reason, "its Java type cannot be inferred ("+want)
			assert.Contains(t, e.Reason, "such as (long,java.lang.Object)")
		}
		_, again := AppendInferred(nil, []any{int64(1), v})
		assert.Equal(t, err, again)
	}
}

// An argument of such a type is an error too, not a panic.
func TestSendPanickyTypes(t *testing.T) {
	for _, v := range []any{panickyClass{}, panickyEnum(0), []panickyClass{{}}, map[string]any{"k": panickyEnum(1)}} {
		_, err := Append(nil, v)
		assert.ErrorContains(t, err, "panics: no ", "%T", v)
	}
}
