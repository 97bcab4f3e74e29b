package hessian2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodeInto(t *testing.T) {
	register(t)
	shared := &Node{Name: "n"}
	b, err := AppendArguments(nil, []any{"find", shared, shared, int64(5), nil})
	require.NoError(t, err)
	var (
		name string
		node *Node
		id   int32
		last = ptr("old")
	)
	n, err := DecodeInto(b, &name, nil, &node, &id, &last)
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	assert.Equal(t, "find", name)
	assert.Equal(t, shared, node, "what was skipped can be referred to")
	assert.Equal(t, int32(5), id)
	assert.Nil(t, last)

	n, err = DecodeInto(b, &name, &node, &id)
	assert.Equal(t, 2, n, "the value that does not fit")
	assert.ErrorContains(t, err, "an object of com.x.Node does not fit the Go type int32")
	n, err = DecodeInto(b, &name, "no pointer")
	assert.Equal(t, 1, n)
	assert.ErrorContains(t, err, "must be a pointer")
	n, err = DecodeInto(AppendNull(nil), &last, &name)
	assert.Equal(t, 1, n)
	assert.ErrorContains(t, err, "ends in the middle")
	n, err = DecodeInto(unhex(t, classHex("com.x.Moody", "name")+str("PANIC")), new(moody))
	assert.Zero(t, n)
	assert.ErrorContains(t, err, "panics")
	n, err = DecodeInto(nil)
	assert.Zero(t, n)
	assert.NoError(t, err)
}

func TestDecodeValues(t *testing.T) {
	values, err := DecodeValues(unhex(t, "91"+"0161"+"65"))
	assert.Equal(t, []any{int32(1), "a"}, values)
	assert.ErrorContains(t, err, "byte 3: class number 5")
	values, err = DecodeValues(nil)
	assert.Empty(t, values)
	assert.NoError(t, err)
}
