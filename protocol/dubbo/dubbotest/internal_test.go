package dubbotest

import (
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// Every text comes through in both serializations, as a consumer reads them.
func TestTexts(t *testing.T) {
	check := func(t rapid.TB, text string) {
		for _, s := range []byte{frame.Hessian2, frame.Fastjson2} {
			got, ok := hessian2.DecodeText(s, encodeText(s, text))
			require.True(t, ok)
			require.Equal(t, text, got)
			got, ok = hessian2.DecodeText(s, encodeNull(s))
			require.True(t, ok)
			require.Empty(t, got)
		}
	}
	for _, n := range []int{0, 1, 46, 47, 48, 2047, 2048, 1<<18 - 1, 1 << 18, 1 << 20} {
		check(t, strings.Repeat("x", n))
		check(t, strings.Repeat("é", n))
		check(t, strings.Repeat("漢", n/3))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if utf8.ValidString(text) {
			check(t, text)
		}
	})
}

func TestParameterTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOf(rapid.SampledFrom([]string{
			"int", "long", "boolean", "byte", "char", "short", "float", "double", "java.lang.String", "java.util.List",
			"com.example.Outer$Inner", "int[]", "byte[][]", "java.lang.String[]",
		})).Draw(t, "types")
		got, err := parameterTypes(hessian2.Descriptor(types))
		require.NoError(t, err)
		require.Equal(t, append([]string{}, types...), got)
	})
	for _, bad := range []string{"X", "L", "Ljava/lang/String", "[", "IL;", "V"} {
		_, err := parameterTypes(bad)
		assert.ErrorContains(t, err, bad)
	}
}

func TestTakesAttachments(t *testing.T) {
	for version, want := range map[string][2]bool{ // 2.6, later
		"2.0.2": {true, true}, "2.0.99": {false, true}, "2.0.10": {false, true}, "2.0.1": {}, "2.6.0": {}, "2.6.2": {},
		"2.7.23": {true, false}, "3.3.1": {true, false}, "": {}, "abc": {}, "2.x": {},
	} {
		assert.Equal(t, want[0], Dubbo26.takesAttachments(version), "2.6, %q", version)
		for _, p := range []Profile{Dubbo27, Dubbo32, Dubbo33} {
			assert.Equal(t, want[1], p.takesAttachments(version), "%s, %q", p, version)
		}
	}
}

// FuzzRequest: whatever comes as a request is answered or refused, and harms nobody.
func FuzzRequest(f *testing.F) {
	p, err := New("com.demo.Greet?group=g1&version=1.0.0", InMemory())
	require.NoError(f, err)
	f.Cleanup(p.Close)
	require.NoError(f, p.Handle("hello(java.lang.String,java.util.List)", func(s string, l []int64) string { return s }))
	seed := func(method, desc string, args ...any) {
		b, err := hessian2.AppendArguments(nil, append(append([]any{"2.0.2", "com.demo.Greet", "1.0.0", method, desc}, args...),
			map[string]any{"path": "com.demo.Greet", "version": "1.0.0", "group": "g1"}))
		require.NoError(f, err)
		f.Add(byte(2), true, b)
	}
	seed("hello", "Ljava/lang/String;Ljava/util/List;", "x", []any{int64(1)})
	seed("hello", "Ljava/lang/String;Ljava/util/List;", "x", "no list")
	seed("$invoke", invokeDescriptor, "hello", []string{"java.lang.String", "java.util.List"}, []any{"x", []any{}})
	seed("$invoke", invokeDescriptor, "hello", nil, []any{"x"})
	seed("$echo", echoDescriptor, map[string]any{"k": []any{"v"}})
	f.Add(byte(23), false, []byte("JSONB"))
	ours, theirs := net.Pipe()
	f.Cleanup(func() { _ = theirs.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := theirs.Read(buf); err != nil {
				return
			}
		}
	}()
	c := newConn(ours, p, p.life, 1)
	f.Fuzz(func(t *testing.T, serialization byte, twoWay bool, body []byte) {
		calls := p.Counters().Calls
		p.receive(c, frame.Header{Request: true, TwoWay: twoWay, Serialization: serialization & 0x1f, Length: len(body)}, body)
		assert.Equal(t, calls+1, p.Counters().Calls)
	})
}
