package gofer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// order is com.example.Order, which nobody registers.
type order struct {
	ID    int64 `hessian:"id"`
	Name  string
	Items []*item
	Paid  *bool
}

type item struct{ Code string }

func (order) JavaClassName() string { return "com.example.Order" }
func (item) JavaClassName() string  { return "com.example.Item" }

// answerTo calls echo with a scripted answer, for a result of type T.
func answerTo[T any](t *testing.T, w *world, answer any) (T, error) {
	t.Helper()
	require.NoError(t, w.provider().Answer("echo", dubbotest.Value(answer)))
	bound, err := gofer.Method[T](w.reference, "echo(java.lang.String)")
	require.NoError(t, err)
	return bound.Call(t.Context(), "x")
}

func wants[T any](t *testing.T, w *world, answer any, want T) {
	t.Helper()
	got, err := answerTo[T](t, w, answer)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestTypedResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "")
		paid := true
		tea := &order{ID: 7, Name: "tea", Items: []*item{{"a"}, nil}, Paid: &paid}
		day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

		wants(t, w, int32(5), int64(5))
		wants(t, w, int32(5), int32(5))
		wants(t, w, int32(5), float64(5))
		wants(t, w, 2.5, 2.5)
		wants(t, w, true, true)
		wants(t, w, "text", "text")
		wants(t, w, []byte{1, 2}, []byte{1, 2})
		wants(t, w, day, day)
		wants(t, w, tea, *tea)
		wants(t, w, tea, tea)
		wants(t, w, []*order{tea, nil}, []*order{tea, nil})
		wants(t, w, []any{int32(1), int64(2)}, []int64{1, 2})
		wants(t, w, map[string]any{"a": int32(1)}, map[string]int64{"a": 1})
		wants(t, w, map[string]any{"o": tea}, map[string]*order{"o": tea})
		wants(t, w, int64(5), any(int64(5)))
		wants(t, w, []string{"a"}, any([]string{"a"}))
		wants(t, w, map[string]any{"class": "x"}, any(map[string]any{"class": "x"}))
		wants(t, w, tea, any(map[string]any{
			"class": "com.example.Order", "id": int64(7), "name": "tea", "paid": true,
			"items": []any{map[string]any{"class": "com.example.Item", "code": "a"}, nil},
		}))
		wants(t, w, "whatever", struct{}{})

		for name, call := range map[string]func() error{
			"number too large": func() error { _, err := answerTo[int32](t, w, int64(1)<<40); return err },
			"text for number":  func() error { _, err := answerTo[int64](t, w, "7"); return err },
			"number for text":  func() error { _, err := answerTo[string](t, w, int64(7)); return err },
			"list for object":  func() error { _, err := answerTo[*order](t, w, []any{1}); return err },
			"in a field":       func() error { _, err := answerTo[*order](t, w, map[string]any{"id": "seven"}); return err },
		} {
			err := call()
			assert.ErrorIs(t, err, gofer.ErrSerialization, name)
			var e *gofer.Error
			require.ErrorAs(t, err, &e)
			assert.True(t, e.Sent, "%s: it was executed", name)
			assert.Equal(t, 1, e.Attempts, "%s: and must not be again", name)
		}
	})
}

// null and void leave the result at its zero value, whatever its type.
func TestNullResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "")
		wants(t, w, nil, "")
		wants(t, w, nil, int64(0))
		wants(t, w, nil, (*order)(nil))
		wants(t, w, nil, (*string)(nil))
		wants(t, w, nil, order{})
		wants(t, w, nil, []string(nil))
		wants(t, w, nil, map[string]any(nil))
		wants(t, w, nil, any(nil))
		wants(t, w, nil, struct{}{})
		text := "set"
		wants(t, w, "set", &text)
	})
}

// An argument that is null, or that Java sends as something else, arrives as what
// was declared.
func TestArgumentsArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "", "")
		require.NoError(t, w.provider().AnswerAlways("take", dubbotest.Value(nil)))
		for signature, c := range map[string]struct{ args, want []any }{
			"take()":                          {nil, nil},
			"take(java.lang.String)":          {[]any{nil}, []any{nil}},
			"take(java.lang.Integer)":         {[]any{(*int32)(nil)}, []any{nil}},
			"take(int,long)":                  {[]any{1, int32(2)}, []any{int64(1), int32(2)}},
			"take(java.util.List)":            {[]any{[]string{"a"}}, []any{[]string{"a"}}},
			"take(java.util.Map,byte[])":      {[]any{map[string]int{"a": 1}, []byte("b")}, []any{map[string]any{"a": int64(1)}, []byte("b")}},
			"take(com.example.Order)":         {[]any{&order{Name: "x"}}, []any{map[string]any{"class": "com.example.Order", "id": int64(0), "name": "x", "items": nil, "paid": nil}}},
			"take(int,int,int,int,int)":       {[]any{1, 2, 3, 4, 5}, []any{int64(1), int64(2), int64(3), int64(4), int64(5)}},
			"take(java.lang.Object,double[])": {[]any{[]any{}, []float64{1.5}}, []any{[]any{}, []float64{1.5}}},
		} {
			require.NoError(t, call(t.Context(), w, signature, c.args...), signature)
			got := w.provider().LastCall()
			assert.Equal(t, signature, got.Signature)
			assert.Equal(t, len(c.want), len(got.Arguments), signature)
			for i := range c.want {
				assert.Equal(t, c.want[i], got.Arguments[i], signature)
			}
		}
	})
}

// Attachments go both ways and belong to one context.
func TestAttachments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, "version=1.0.0&group=g1&token=t0", "timeout=700")
		p := w.provider()
		require.NoError(t, p.Handle("echo(java.lang.String)", func(ctx context.Context, s string) string {
			dubbotest.Attach(ctx, "seen", dubbotest.FromContext(ctx).Attachment("trace"))
			dubbotest.Attach(ctx, "number", int64(7))
			return s
		}))
		ctx := gofer.WithTag(gofer.WithAttachment(t.Context(), "trace", "abc"), "gray")
		ctx = gofer.WithAttachment(gofer.WithAttachment(ctx, "version", "9.9.9"), "generic", "true")
		ctx, reply := gofer.WithReply(ctx)
		require.NoError(t, echo(ctx, w))
		assert.Equal(t, map[string]any{
			"path": demo, "interface": demo, "version": "1.0.0", "group": "g1", "token": "t0", "timeout": "700",
			"remote.application": "shop-web", "trace": "abc", "dubbo.tag": "gray",
		}, p.LastCall().Attachments)
		assert.Equal(t, map[string]any{"dubbo": "2.0.2", "seen": "abc", "number": int64(7)}, reply.Attachments())
		assert.Equal(t, "abc", reply.Attachment("seen"))
		assert.Equal(t, p.Addr(), reply.Provider())

		require.NoError(t, echo(t.Context(), w))
		assert.NotContains(t, p.LastCall().Attachments, "trace", "it leaks to the next call")
		assert.NotContains(t, p.LastCall().Attachments, "dubbo.tag")
		assert.Equal(t, "abc", reply.Attachment("seen"), "another call's answer")

		require.NoError(t, p.Answer("echo", dubbotest.Throw("com.example.X", "no").With("why", "because")))
		assert.ErrorIs(t, echo(ctx, w), gofer.ErrBusiness)
		assert.Equal(t, "because", reply.Attachment("why"), "exceptions have attachments too")
		assert.Empty(t, reply.Attachment("seen"))

		require.NoError(t, p.Answer("echo", dubbotest.Status(50, "lost")))
		assert.Error(t, echo(ctx, w))
		assert.Empty(t, reply.Attachments(), "of the latest answer, which has none")
	})
}

// Many calls at once use one connection and one another's nothing.
func TestConcurrentCalls(t *testing.T) {
	p := startDemo(t, "")
	r := refer(t, newClient(t), p.URL("timeout=20000"))
	add, err := gofer.Method[int64](r, "add(int,long)")
	require.NoError(t, err)
	w := world{t: t}
	for g := range 20 {
		w.aside.Go(func() {
			for i := range 50 {
				ctx, reply := gofer.WithReply(t.Context())
				sum, err := add.Call(ctx, int32(g), int64(i))
				assert.NoError(t, err)
				assert.Equal(t, int64(g+i), sum)
				assert.Equal(t, p.Addr(), reply.Provider())
			}
		})
	}
	w.aside.Wait()
	c := p.Counters()
	assert.Equal(t, 1000, c.Calls)
	assert.Equal(t, 1, c.Accepted)
	assert.Zero(t, r.Snapshot().Providers[0].Methods[0].Active)
	assert.EqualValues(t, 1000, r.Snapshot().Providers[0].Methods[0].Total)
}
