//go:build !race

package hessian2

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/protocol"
)

func TestEncodingScalarsAllocatesNothing(t *testing.T) {
	b := make([]byte, 0, 4096)
	text, at, x := "hello wörld", time.UnixMilli(1700000000123), make([]byte, 100)
	args := []any{nil, true, int8(1), int16(1), int32(1), int64(1), 1, uint8(1), float32(99.8), 0.1, text, x, at, ptr("s"), ptr(int64(5)), ptr(2.5)}
	types := []string{"java.lang.String", "long", "boolean", "double", "int"}
	typed := []any{"s", int64(1), true, 0.5, int32(1)}
	for name, f := range map[string]func(){
		"bool":      func() { b = AppendBool(b[:0], true) },
		"int":       func() { b = AppendInt32(b[:0], 1<<20) },
		"long":      func() { b = AppendInt64(b[:0], 1<<40) },
		"double":    func() { b = AppendFloat64(b[:0], 0.1) },
		"float":     func() { b = AppendFloat32(b[:0], 99.8) },
		"string":    func() { b = AppendString(b[:0], text) },
		"bytes":     func() { b = AppendBytes(b[:0], x) },
		"time":      func() { b = AppendTime(b[:0], at) },
		"arguments": func() { b, _ = AppendArguments(b[:0], args) },
		"validate":  func() { _ = ValidateArguments(types, typed) },
		"infer":     func() { b, _ = AppendInferred(b[:0], typed) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

func TestDecodingAllocatesTheValueAlone(t *testing.T) {
	register(t)
	var (
		s  string
		i  int64
		ok bool
		d  float64
		x  []byte
		at time.Time
		u  *User
		o  *Order
		os []*Order
		n  any
	)
	for name, c := range map[string]struct {
		value, target any
		most          float64
	}{
		"string":  {"hello", &s, 1},
		"long":    {int64(5), &i, 0},
		"bool":    {true, &ok, 0},
		"double":  {0.1, &d, 0},
		"binary":  {make([]byte, 100), &x, 1},
		"date":    {time.UnixMilli(1), &at, 0},
		"natural": {"hello", &n, 2},
		"order":   {sampleOrder(), &o, 6},
		"rich":    {sampleUser(), &u, 18},
		"orders":  {sampleOrders(), &os, 510},
	} {
		body := answer(t, c.value)
		allocs := testing.AllocsPerRun(100, func() {
			r := protocol.Result{Target: c.target}
			if _, err := DecodeResult(body, &r); err != nil {
				t.Fatal(err)
			}
		})
		assert.LessOrEqual(t, allocs, c.most, name)
	}
	null := unhex(t, "954805647562626f05322e302e325a")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		r := protocol.Result{Target: &s}
		_, _ = DecodeResult(null, &r)
	}))
}

func TestEncodingObjectsAllocatesLittle(t *testing.T) {
	register(t)
	b := make([]byte, 0, 1<<16)
	for name, c := range map[string]struct {
		value any
		most  float64
	}{
		"order": {sampleOrder(), 4}, "rich": {sampleUser(), 9}, "orders": {sampleOrders(), 15},
	} {
		args := []any{c.value}
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { b, _ = AppendArguments(b[:0], args) }), c.most, name)
	}
}
