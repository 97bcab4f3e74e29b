package hessian2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// Types without end: a pointer to itself has nothing behind it, a slice or a map of
// itself is a tree.
type (
	endlessPointer *endlessPointer
	endlessSlice   []endlessSlice
	endlessMap     map[string]endlessMap
	endlessArrays  [][1]endlessArrays

	endlessField struct{ P endlessPointer }
	trees        struct {
		S endlessSlice
		M endlessMap
	}
)

func (endlessField) JavaClassName() string { return "com.x.EndlessField" }
func (trees) JavaClassName() string        { return "com.x.Trees" }

// selfPointing returns values that point to themselves.
func selfPointing() []any {
	var inAny any
	inAny = &inAny
	var p endlessPointer
	p = &p
	return []any{inAny, p}
}

func TestSelfPointingArgumentsEnd(t *testing.T) {
	for _, v := range selfPointing() {
		for _, declared := range []string{"long", "java.lang.Object", "int[]", "com.x.A"} {
			err := ValidateArguments([]string{"long", declared}, []any{int64(1), v})
			var e *ArgumentError
			if assert.ErrorAs(t, err, &e, "%T", v) {
				assert.Equal(t, 1, e.Index)
				assert.Equal(t, "values nest deeper than 1024 levels", e.Reason)
			}
		}
		_, err := Append(nil, v)
		assert.ErrorContains(t, err, "values nest deeper than 1024 levels")
		assert.Equal(t, "…", Text(v))
		_, err = InferTypes([]any{v})
		assert.ErrorContains(t, err, "its Java type cannot be inferred; state the types")
	}

	// Up to the bound it is a value like others.
	v := any(int64(7))
	for range maxDepth - 1 {
		inner := v
		v = &inner
	}
	assert.ErrorContains(t, ValidateArguments([]string{"long"}, []any{v}), "deeper than 1024")
	v = any(int64(7))
	for range maxDepth / 2 { // each is a pointer and an interface
		inner := v
		v = &inner
	}
	assert.NoError(t, ValidateArguments([]string{"long"}, []any{v}))
}

func TestSelfPointingTypesOfElements(t *testing.T) {
	for _, declared := range []string{"java.lang.Object[]", "java.lang.String[]", "com.x.A[]"} {
		assert.ErrorContains(t, ValidateArguments([]string{declared}, []any{[]endlessPointer{}}), "it does not fit the declared type "+declared)
	}
	err := Register(endlessPointer(nil))
	assert.ErrorContains(t, err, "hessian2.endlessPointer points to itself")
	err = Register(endlessField{})
	assert.ErrorContains(t, err, "hessian2.endlessField.P: hessian2.endlessPointer points to itself")
}

func TestResultIntoSelfPointingType(t *testing.T) {
	var p endlessPointer
	self := endlessPointer(&p)
	p = self
	b := AppendInt64(AppendInt32(nil, flagValue), 7)
	for _, target := range []any{new(endlessPointer), &p, self, new(*endlessPointer)} {
		_, err := DecodeResult(b, &protocol.Result{Target: target})
		var e *DecodeError
		if assert.ErrorAs(t, err, &e, "%T", target) {
			assert.Equal(t, 1, e.Offset)
			assert.Contains(t, e.Reason, "hessian2.endlessPointer, which points to itself")
		}
	}
	p = self
	_, err := DecodeResult(b, &protocol.Result{Target: &p})
	assert.Error(t, err)
	assert.Nil(t, p, "the target is reset")
	list, err := Append(nil, []string{"x"})
	require.NoError(t, err)
	_, err = DecodeInto(list, &[]endlessPointer{})
	assert.ErrorContains(t, err, "[0]")
	assert.ErrorContains(t, err, "points to itself")

	pp := new(**int64) // pointers that end are followed
	_, err = DecodeResult(b, &protocol.Result{Target: pp})
	require.NoError(t, err)
	assert.Equal(t, int64(7), ***pp)
}

// Types that hold themselves in slices and maps are trees, and are sent as such.
func TestTypesThatHoldThemselves(t *testing.T) {
	require.NoError(t, Register(trees{}))
	want := trees{S: endlessSlice{{}, {{}}}, M: endlessMap{"a": {"b": {}}}}
	b, err := Append(nil, want)
	require.NoError(t, err)
	var got trees
	_, err = DecodeInto(b, &got)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	_, err = Append(nil, endlessArrays{})
	assert.NoError(t, err)
	assert.NoError(t, ValidateArguments([]string{"java.util.List"}, []any{endlessSlice{}}))
	s := endlessSlice{nil}
	s[0] = s
	assert.NotEmpty(t, Text(s))
}
