package dubbotest_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

func TestHandlersOfEveryShape(t *testing.T) {
	p := dubbotest.Start(t, orders)
	stored := ""
	for signature, f := range map[string]any{
		"add(int,long)":                     func(a int32, b int64) int64 { return int64(a) + b },
		"none()":                            func() {},
		"store(java.lang.String)":           func(s string) error { stored = s; return nil },
		"boxed(java.lang.Integer)":          func(n *int32) (*int32, error) { return n, nil },
		"bytes(byte[])":                     func(b []byte) []byte { return append(b, 0) },
		"date(java.util.Date)":              func(d time.Time) time.Time { return d.Add(time.Hour) },
		"list(java.util.List)":              func(l []order) int32 { return int32(len(l)) },
		"map(java.util.Map)":                func(m map[string]int64) map[string]int64 { m["sum"] = m["a"] + m["b"]; return m },
		"any(java.lang.Object)":             func(v any) string { return fmt.Sprintf("%T", v) },
		"save(com.example.Order)":           func(ctx context.Context, o *order) (*order, error) { o.ID++; return o, ctx.Err() },
		"over(int)":                         func(int32) string { return "int" },
		"over(java.lang.String)":            func(string) string { return "String" },
		"over(int,java.lang.String,long[])": func(int32, string, []int64) string { return "three" },
	} {
		require.NoError(t, p.Handle(signature, f))
	}
	r := refer(t, p, "timeout=5000")
	call := func(want any, signature string, args ...any) {
		t.Helper()
		got, err := gofer.Call[any](t.Context(), r, signature, args...)
		require.NoError(t, err, signature)
		assert.Equal(t, want, got, signature)
	}
	call(int64(5), "add(int,long)", int32(2), int64(3))
	call(nil, "none()")
	call(nil, "store(java.lang.String)", "kept")
	assert.Equal(t, "kept", stored)
	seven := int32(7)
	call(int32(7), "boxed(java.lang.Integer)", &seven)
	call(nil, "boxed(java.lang.Integer)", (*int32)(nil))
	call([]byte{1, 0}, "bytes(byte[])", []byte{1})
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	call(day.Add(time.Hour), "date(java.util.Date)", day)
	call(int32(2), "list(java.util.List)", []*order{{ID: 1}, {ID: 2}})
	call(map[string]any{"a": int64(1), "b": int64(2), "sum": int64(3)}, "map(java.util.Map)", map[string]int64{"a": 1, "b": 2})
	call("<nil>", "any(java.lang.Object)", nil)
	call("[]interface {}", "any(java.lang.Object)", []any{1})
	call("int", "over(int)", int32(1))
	call("String", "over(java.lang.String)", "x")
	call("three", "over(int,java.lang.String,long[])", int32(1), "x", []int64{1})

	saved, err := gofer.Call[order](t.Context(), r, "save(com.example.Order)", order{ID: 1, Name: "tea"})
	require.NoError(t, err)
	assert.Equal(t, order{2, "tea"}, saved)

	two := &order{ID: 1}
	call(int32(2), "list(java.util.List)", []*order{two, two})
	assert.Nil(t, p.LastCall().Misfit)
}

// An argument may occur twice in a request: in two parameters, say.
func TestArgumentsShareObjects(t *testing.T) {
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.Handle("same(com.example.Order,com.example.Order)", func(a, b *order) bool { return a == b && a.ID == 9 }))
	one := &order{ID: 9}
	same, err := gofer.Call[bool](t.Context(), refer(t, p), "same(com.example.Order,com.example.Order)", one, one)
	require.NoError(t, err)
	assert.True(t, same)
}

func TestHandleMistakes(t *testing.T) {
	p, err := dubbotest.New(orders)
	require.NoError(t, err)
	defer p.Close()
	for _, c := range []struct {
		signature string
		function  any
		want      string
	}{
		{"find", func() {}, "the parameter types are missing"},
		{"find(Long)", func(int64) {}, "java.lang.Long"},
		{"find(long)", 7, "a int is no function"},
		{"find(long)", nil, "is no function"},
		{"find(long)", func() {}, "takes 0 arguments, the method has 1"},
		{"find(long)", func(string) {}, "does not take a Java long"},
		{"find(long)", func(int32, int32) {}, "takes 2 arguments"},
		{"find(java.lang.String)", func(int64) {}, "does not take a Java java.lang.String"},
		{"find(long)", func(...int64) {}, "variable number"},
		{"find(long)", func(int64) (int, int) { return 0, 0 }, "more than a result and an error"},
		{"find(long)", func(int64) (int, int, error) { return 0, 0, nil }, "more than a result and an error"},
	} {
		err := p.Handle(c.signature, c.function)
		require.Error(t, err, c.signature)
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, "dubbotest: ")
	}
}

// What a function returns as an error arrives as a Java exception.
func TestErrorsAreExceptions(t *testing.T) {
	p := dubbotest.Start(t, orders)
	declared := &protocol.RemoteError{
		Class: "com.example.OrderException", Message: "no order 7",
		Fields: map[string]any{"code": int32(404), "reasons": []any{"unknown"}},
		Stack:  []string{"com.example.Orders.find(Orders.java:12)", "com.example.Main.main(Main.java:3)"},
		Cause:  &protocol.RemoteError{Class: "java.lang.IllegalArgumentException", Message: "id 7"},
	}
	gone := errors.New("gone")
	for signature, f := range map[string]func() error{
		"declared()": func() error { return declared },
		"wrapped()":  func() error { return fmt.Errorf("found nothing: %w", declared) },
		"plain()":    func() error { return gone },
		"panics()":   func() error { panic("no way") },
		"exits()":    func() error { runtime.Goexit(); return nil },
		"fine()":     func() error { return nil },
	} {
		require.NoError(t, p.Handle(signature, f))
	}
	r := refer(t, p)
	failure := func(signature string) *gofer.RemoteError {
		t.Helper()
		_, err := gofer.Call[any](t.Context(), r, signature)
		require.ErrorIs(t, err, gofer.ErrBusiness)
		var remote *gofer.RemoteError
		require.ErrorAs(t, err, &remote)
		return remote
	}
	for _, signature := range []string{"declared()", "wrapped()"} {
		got := failure(signature)
		assert.Equal(t, declared.Class, got.Class)
		assert.Equal(t, declared.Message, got.Message)
		assert.Equal(t, declared.Fields, got.Fields)
		assert.Equal(t, declared.Stack, got.Stack)
		require.NotNil(t, got.Cause)
		assert.Equal(t, declared.Cause.Class, got.Cause.Class)
		assert.Equal(t, declared.Cause.Message, got.Cause.Message)
		assert.Nil(t, got.Cause.Cause)
	}
	for signature, want := range map[string]string{
		"plain()": "gone", "panics()": "panic: no way",
		"exits()": "the function did not return: runtime.Goexit, as t.FailNow calls it",
	} {
		got := failure(signature)
		assert.Equal(t, "java.lang.RuntimeException", got.Class)
		assert.Equal(t, want, got.Message)
		assert.Nil(t, got.Cause)
	}
	_, err := gofer.Call[any](t.Context(), r, "fine()")
	assert.NoError(t, err)
	assert.Zero(t, p.Counters().InFlight)
}

// Dubbo 3.3 does not send exceptions that are not on its list, nor listed ones with
// such a cause; older releases do. Both ways the class and the message arrive.
func TestUnlistedExceptions(t *testing.T) {
	arithmetic := &protocol.RemoteError{Class: "java.lang.ArithmeticException", Message: "/ by zero"}
	caused := &protocol.RemoteError{Class: "java.lang.IllegalStateException", Message: "later", Cause: &protocol.RemoteError{Class: "java.io.IOException", Message: "disk"}}
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, orders, dubbotest.WithProfile(profile))
		require.NoError(t, p.Answer("f", dubbotest.Exception(arithmetic), dubbotest.Exception(caused), dubbotest.Throw("com.example.OrderException", "own")))
		r := refer(t, p)
		for _, want := range []*protocol.RemoteError{arithmetic, caused, {Class: "com.example.OrderException", Message: "own"}} {
			_, err := gofer.Call[any](t.Context(), r, "f()")
			var remote *gofer.RemoteError
			require.ErrorAs(t, err, &remote)
			assert.Equal(t, want.Class, remote.Class)
			assert.Equal(t, want.Message, remote.Message)
			if profile != dubbotest.Dubbo33 {
				assert.Equal(t, want.Cause != nil, remote.Cause != nil)
			}
		}
	})
}

func TestContextOfAFunction(t *testing.T) {
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.SetAttachment("server", "one"))
	require.NoError(t, p.Handle("find(long)", func(ctx context.Context, id int64) (string, error) {
		call := dubbotest.FromContext(ctx)
		dubbotest.Attach(ctx, "seen", call.Attachment("trace"))
		dubbotest.Attach(ctx, "number", int64(7))
		return call.Signature, nil
	}))
	ctx, reply := gofer.WithReply(gofer.WithAttachment(t.Context(), "trace", "abc"))
	got, err := gofer.Call[string](ctx, refer(t, p), "find(long)", int64(1))
	require.NoError(t, err)
	assert.Equal(t, "find(long)", got)
	assert.Equal(t, map[string]any{"dubbo": "2.0.2", "server": "one", "seen": "abc", "number": int64(7)}, reply.Attachments())

	require.NoError(t, p.SetAttachment("server", nil))
	dubbotest.Attach(t.Context(), "nobody", "listens")
	assert.Nil(t, dubbotest.FromContext(t.Context()))
	_, err = gofer.Call[string](ctx, refer(t, p), "find(long)", int64(1))
	require.NoError(t, err)
	assert.Empty(t, reply.Attachment("server"))
}

// A function that returns an Answer decides how the call ends.
func TestFunctionsReturnAnswers(t *testing.T) {
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.Handle("pick(int)", func(n int32) (dubbotest.Answer, error) {
		return []dubbotest.Answer{
			dubbotest.Handler(), dubbotest.Value("two").With("k", "v"), dubbotest.Throw("com.example.E", "three"),
			dubbotest.Status(100, "four"), dubbotest.Never(), dubbotest.Value("six").WrongID(), dubbotest.HangUpUnread(),
		}[n], nil
	}))
	r := refer(t, p, "retries=0&timeout=5000")
	pick := func(ctx context.Context, n int32) (*string, error) {
		return gofer.Call[*string](ctx, r, "pick(int)", n)
	}

	s, err := pick(t.Context(), 0)
	require.NoError(t, err)
	assert.Nil(t, s, "that is no decision")
	ctx, reply := gofer.WithReply(t.Context())
	s, err = pick(ctx, 1)
	require.NoError(t, err)
	assert.Equal(t, "two", *s)
	assert.Equal(t, "v", reply.Attachment("k"))
	_, err = pick(t.Context(), 2)
	assert.ErrorContains(t, err, "com.example.E: three")
	_, err = pick(t.Context(), 3)
	assert.ErrorIs(t, err, gofer.ErrLimitExceeded)
	for _, n := range []int32{4, 5} {
		_, err = pick(gofer.WithTimeout(t.Context(), 20*time.Millisecond), n)
		assert.ErrorIs(t, err, gofer.ErrTimeout)
	}
	_, err = pick(t.Context(), 6)
	assert.ErrorIs(t, err, gofer.ErrNetwork)
}

// employee has every kind of field.
type employee struct {
	Person
	Grade   sex
	Tags    []string `hessian:"tags"`
	Manager *employee
	Reports map[string]any
}

// Person is embedded in others.
type Person struct{ Name string }

func (employee) JavaClassName() string { return "com.example.Employee" }

func TestGeneric(t *testing.T) {
	p := dubbotest.Start(t, orders)
	require.NoError(t, p.Handle("save(com.example.Order)", func(o *order) (*order, error) { o.ID++; return o, nil }))
	require.NoError(t, p.Handle("all()", func() []*order { return []*order{{ID: 1}, nil} }))
	require.NoError(t, p.Handle("none()", func() []any { return []any{[]*order(nil), map[string]int32(nil), []byte(nil)} }))
	boss := &employee{Person: Person{Name: "Ann"}, Grade: sex(1), Tags: []string{"a"}}
	boss.Manager, boss.Reports = boss, map[string]any{"self": boss, "since": time.Unix(0, 0).UTC()}
	require.NoError(t, p.Handle("boss()", func() any { return boss }))
	require.NoError(t, p.Handle("over(int)", func(int32) string { return "int" }))
	require.NoError(t, p.Handle("over(java.lang.String[])", func([]string) string { return "String[]" }))
	require.NoError(t, p.Handle("fail()", func() error {
		return &protocol.RemoteError{Class: "com.example.OrderException", Message: "no", Cause: &protocol.RemoteError{Class: "java.io.IOException", Message: "disk"}}
	}))
	r := refer(t, p, "retries=0")

	got, err := r.Generic(t.Context(), "save(com.example.Order)", map[string]any{"class": "com.example.Order", "id": int64(1), "name": "tea"})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"class": "com.example.Order", "id": int64(2), "name": "tea"}, got)
	call := p.LastCall()
	assert.True(t, call.Generic())
	assert.Equal(t, "$invoke", call.Method)
	assert.Equal(t, "save(com.example.Order)", call.Signature)
	assert.Equal(t, "save", call.Name())
	assert.Equal(t, "true", call.Attachment("generic"))

	got, err = r.Generic(t.Context(), "all")
	require.NoError(t, err, "without types, as there is only one")
	assert.Equal(t, []any{map[string]any{"class": "com.example.Order", "id": int64(1), "name": ""}, nil}, got)
	assert.Equal(t, "all", p.LastCall().Signature)

	got, err = r.Generic(t.Context(), "none")
	require.NoError(t, err)
	assert.Equal(t, []any{nil, nil, nil}, got)

	got, err = r.Generic(t.Context(), "boss()")
	require.NoError(t, err)
	ann := got.(map[string]any)
	assert.Equal(t, "com.example.Employee", ann["class"])
	assert.Equal(t, "Ann", ann["name"])
	assert.Equal(t, "WOMAN", ann["grade"])
	assert.Equal(t, []string{"a"}, ann["tags"])
	assert.Equal(t, reflect.ValueOf(ann).Pointer(), reflect.ValueOf(ann["manager"]).Pointer(), "is her own manager")
	assert.Equal(t, time.Unix(0, 0).UTC(), ann["reports"].(map[string]any)["since"])

	got, err = r.Generic(t.Context(), "over(java.lang.String[])", []string{"x"})
	require.NoError(t, err)
	assert.Equal(t, "String[]", got)
	_, err = r.Generic(t.Context(), "over", int32(1))
	assert.ErrorIs(t, err, gofer.ErrNotFound)
	assert.ErrorContains(t, err, "Not unique method for method name(over)")
	got, err = r.Generic(t.Context(), "over(int)", "17")
	require.NoError(t, err, "converted, as Java does")
	assert.Equal(t, "int", got)
	_, err = r.Generic(t.Context(), "over(int)", "x")
	assert.ErrorContains(t, err, "argument 1")
	_, err = r.Generic(t.Context(), "nope(int)", int32(1))
	assert.ErrorContains(t, err, orders+".nope(int)")

	_, err = r.Generic(t.Context(), "fail()")
	var remote *gofer.RemoteError
	require.ErrorAs(t, err, &remote)
	assert.Equal(t, "com.example.OrderException", remote.Class, "unwrapped by the consumer")
	require.NotNil(t, remote.Cause)
	assert.Equal(t, "java.io.IOException", remote.Cause.Class)
	assert.Len(t, p.Calls("over"), 4)
	assert.Len(t, p.Calls("over(int)", "all"), 3)
	assert.Len(t, p.Calls("$invoke"), p.Counters().Calls)
}

// What fits the declared Java type but not the Go type of the function is null in
// Dubbo 2 and refused by Dubbo 3; both ways the record says so.
func TestMisfit(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0", dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("save(com.example.Order,long)", func(o *order, n int64) bool { return o == nil && n == 5 }))
		got := dial(t, p).call(request{method: "save", desc: "Lcom/example/Order;J", args: []any{"no order", int64(5)}})
		require.Error(t, p.LastCall().Misfit)
		assert.ErrorContains(t, p.LastCall().Misfit, "argument 1")
		if profile == dubbotest.Dubbo26 || profile == dubbotest.Dubbo27 {
			assert.Equal(t, true, got.result(t).Value)
			return
		}
		assert.EqualValues(t, 40, got.Status)
		assert.Contains(t, got.text(t), "methodName=save")
	})
	p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0")
	require.NoError(t, p.Handle("half(java.lang.String,long)", func(_ string, n int64) int64 { return n / 2 }))
	got := dial(t, p).call(request{method: "half", desc: "Ljava/lang/String;J", args: []any{"of", "no number"}})
	var result protocol.Result
	remote, err := hessian2.DecodeResult(got.body, &result)
	require.NoError(t, err)
	require.NotNil(t, remote, "null for a primitive")
	assert.Equal(t, "java.lang.NullPointerException", remote.Error())
	assert.ErrorContains(t, p.LastCall().Misfit, "argument 2")
}

// Dubbo 2.6 finds a method that has no overloads by its name and the number of its
// arguments, whatever their types.
func TestTypesOfDubbo26(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, orders, dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("find(long)", func(id int64) (int64, error) { return id, nil }))
		require.NoError(t, p.Handle("name(java.lang.String)", func(s string) string { return s }))
		require.NoError(t, p.Handle("over(java.lang.String)", func(s string) string { return s }))
		require.NoError(t, p.Handle("over(long)", func(int64) string { return "long" }))
		r := refer(t, p, "retries=0")
		n, err := gofer.Call[int64](t.Context(), r, "find(int)", int32(7))
		_, miscast := gofer.Call[string](t.Context(), r, "name(char)", "x")
		_, number := gofer.Call[string](t.Context(), r, "name(int)", int32(1))
		_, unknown := gofer.Call[string](t.Context(), r, "over(int)", int32(1))
		assert.ErrorIs(t, unknown, gofer.ErrNotFound, "it has overloads")
		_, count := gofer.Call[string](t.Context(), r, "name(java.lang.String,int)", "x", int32(1))
		assert.ErrorIs(t, count, gofer.ErrNotFound)
		if profile != dubbotest.Dubbo26 {
			assert.ErrorIs(t, err, gofer.ErrNotFound)
			assert.ErrorIs(t, number, gofer.ErrNotFound)
			return
		}
		require.NoError(t, err)
		assert.EqualValues(t, 7, n, "a number is a number")
		require.NoError(t, miscast, "a char travels as a string")
		assert.ErrorContains(t, number, "java.lang.ClassCastException: class java.lang.Integer cannot be cast to class java.lang.String")
	})
}
