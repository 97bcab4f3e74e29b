package hessian2

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/dubbo-go-hessian2/java_exception"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// thrown decodes the body of a result that is an exception, given in hex without
// its flag.
func thrown(t testing.TB, h string) *protocol.RemoteError {
	t.Helper()
	remote, err := DecodeResult(unhex(t, "90"+h), &protocol.Result{Target: new(string)})
	require.NoError(t, err)
	require.NotNil(t, remote)
	return remote
}

// OrderException is a business exception with a Go type.
type OrderException struct {
	DetailMessage string
	Code          int32
	Cause         error
}

func (*OrderException) JavaClassName() string { return "com.x.OrderException" }
func (e *OrderException) Error() string       { return fmt.Sprint(e.Code, " ", e.DetailMessage) }
func (e *OrderException) Unwrap() error       { return e.Cause }

// joined is an error around several, all of them itself.
type joined struct{ error }

func (j *joined) Unwrap() []error { return []error{nil, j, j} }

// wrapped has a cause under a name of its own.
type wrapped struct{ Cause error }

func (*wrapped) JavaClassName() string { return "com.x.Wrapped" }
func (*wrapped) Error() string         { return "wrapped" }
func (w *wrapped) Unwrap() error       { return w.Cause }

const (
	emptyTrace = "70" + "1c" + "5b6a6176612e6c616e672e537461636b5472616365456c656d656e74"
	suppressed = "70" + "1f" + "6a6176612e7574696c2e436f6c6c656374696f6e7324456d7074794c697374"
)

// exceptionHex is an exception object of class n whose first reference is ref.
func exceptionHex(n int, class, message, cause string, own ...string) string {
	fields := []string{"suppressedExceptions", "stackTrace", "cause", "detailMessage"}
	values := suppressed + emptyTrace + cause + str(message)
	for i := 0; i < len(own); i += 2 {
		fields, values = append(fields, own[i]), values+own[i+1]
	}
	return classHexAs(n, class, fields...) + values
}

// B148: an exception of a class that Go does not know keeps what it says.
func TestB148UnknownExceptions(t *testing.T) {
	e := thrown(t, exceptionHex(0, "com.x.BizException", "boom", "5190", "code", "91", "detail", str("d")))
	assert.Equal(t, &protocol.RemoteError{Class: "com.x.BizException", Message: "boom", Fields: map[string]any{"code": int32(1), "detail": "d"}, Stack: []string{}}, e)
	assert.EqualError(t, e, "com.x.BizException: boom")
	var found *protocol.RemoteError
	assert.ErrorAs(t, fmt.Errorf("call: %w", e), &found)
}

// The exceptions of real Java providers.
func TestVectorExceptions(t *testing.T) {
	seen := map[string]int{}
	for name, body := range load(t).answers(t) {
		if !strings.Contains(name, "ex-") && !strings.Contains(name, "exception") {
			continue
		}
		remote, err := DecodeResult(body, &protocol.Result{})
		require.NoError(t, err, name)
		require.NotNil(t, remote, name)
		assert.Nil(t, remote.Cause, name)
		seen[remote.Class]++
		switch remote.Class {
		case "com.demo.BizException":
			assert.Contains(t, []string{"biz failed", "bad"}, remote.Message, name)
			assert.Equal(t, int32(42), remote.Fields["code"], name)
			assert.IsType(t, "", remote.Fields["detail"], name)
			assert.Len(t, remote.Fields, 2, name)
			assert.Nil(t, remote.Value, name)
		case "java.lang.NullPointerException":
			assert.Contains(t, []string{"npe!", "from go"}, remote.Message, name)
			assert.Empty(t, remote.Fields, name)
			var typed *java_exception.NullPointerException
			require.ErrorAs(t, remote, &typed, name)
			assert.Equal(t, remote.Message, typed.DetailMessage)
			assert.Nil(t, typed.Cause)
			assert.Len(t, typed.StackTrace, len(remote.Stack))
		default:
			t.Errorf("%s: class %s", name, remote.Class)
		}
		if strings.Contains(name, "java") {
			assert.Greater(t, len(remote.Stack), 10, name)
			assert.Regexp(t, `^[\w.$]+\.[\w$<>]+\([\w$]+\.java:\d+\)$`, remote.Stack[0], name)
		}
	}
	assert.Equal(t, map[string]int{"com.demo.BizException": 5, "java.lang.NullPointerException": 3}, seen)
}

// B150: no chain of causes is endless, and printing ends.
func TestB150CyclicExceptions(t *testing.T) {
	require.NoError(t, Register(&OrderException{}, &wrapped{}))
	// A caused by B caused by A.
	a := exceptionHex(0, "com.x.OrderException", "a", exceptionHex(1, "com.x.OtherException", "b", "5190", "self", "5190", "me", "5193"), "code", "95")
	e := thrown(t, a)
	assert.Equal(t, "com.x.OtherException", e.Cause.Class)
	assert.Nil(t, e.Cause.Cause)
	assert.Same(t, e, e.Cause.Fields["self"], "a field may refer to an exception around it")
	assert.Same(t, e.Cause, e.Cause.Fields["me"])
	assert.False(t, errors.Is(e, errors.ErrUnsupported), "the search ends")
	assert.NotEmpty(t, fmt.Sprintf("%v %+v", e, e.Cause.Fields))

	self := thrown(t, exceptionHex(0, "com.x.OrderException", "a", "5190", "code", "95"))
	var typed *OrderException
	require.ErrorAs(t, self, &typed)
	assert.Equal(t, &OrderException{DetailMessage: "a", Code: 5}, typed)
	assert.False(t, errors.Is(self, errors.ErrUnsupported))

	// Cycles that only the Go type makes: the message lost, and two causes in a ring.
	odd := thrown(t, classHex("com.x.OrderException", "cause", "code")+"5190"+"95")
	assert.Equal(t, int32(5), odd.Value.(*OrderException).Code)
	ring := thrown(t, classHex("com.x.OrderException", "Cause", "code")+"60"+"5190"+"96"+"95")
	assert.Nil(t, ring.Value)
	outer := thrown(t, classHex("com.x.OrderException", "cause", "code")+classHexAs(1, "com.x.Wrapped", "Cause")+"5190"+"95")
	assert.Nil(t, outer.Value)
	assert.Equal(t, "com.x.Wrapped", outer.Cause.Class)
	for _, e := range []error{odd, ring, outer} {
		assert.False(t, errors.Is(e, errors.ErrUnsupported))
	}
	assert.False(t, ends(&joined{}, new(int)))

	list := decoded[[]any](t, "795190")
	assert.Same(t, &list[0], &list[0].([]any)[0])
	assert.NotEmpty(t, Text(list))
}

func TestCauses(t *testing.T) {
	e := thrown(t, exceptionHex(0, "com.x.A", "a", exceptionHex(1, "com.x.B", "b", exceptionHex(2, "com.x.C", "c", "4e"))))
	assert.Equal(t, "com.x.C", e.Cause.Cause.Class)
	assert.Nil(t, e.Cause.Cause.Cause)

	// A cause that was met before: another exception, and one in a field.
	first := exceptionHex(1, "com.x.First", "first", "4e")
	e = thrown(t, classHex("com.x.A", "detailMessage", "other", "cause")+str("a")+first+"5191")
	assert.Equal(t, "first", e.Cause.Message)
	assert.Equal(t, "com.x.First", e.Fields["other"].(map[string]any)["class"])

	chain := strings.Builder{}
	for i := range 2000 {
		if i == 0 {
			chain.WriteString(classHex("com.x.A", "cause"))
		}
		chain.WriteString("60")
	}
	_, err := DecodeResult(unhex(t, "90"+chain.String()), &protocol.Result{})
	assert.ErrorContains(t, err, "nest deeper")
}

// B152: providers in other languages send bare texts.
func TestB152BareTexts(t *testing.T) {
	assert.Equal(t, &protocol.RemoteError{Message: "boom"}, thrown(t, "04626f6f6d"))
	assert.EqualError(t, thrown(t, "4e"), "exception without content")
	m := thrown(t, "48"+str("class")+str("com.x.E")+str("message")+str("boom")+"5a")
	assert.EqualError(t, m, "com.x.E: boom")
	assert.Equal(t, "boom", m.Fields["message"])
	for _, h := range []string{"90" + "91", "90" + "7a9192", "90" + "54", "90"} {
		_, err := DecodeResult(unhex(t, h), &protocol.Result{})
		assert.Error(t, err)
	}
	empty := thrown(t, exceptionHex(0, "com.x.E", "", "4e"))
	assert.EqualError(t, empty, "com.x.E")
	odd := thrown(t, classHex("com.x.E", "detailMessage", "stackTrace", "cause")+"4e"+"4e"+"04626f6f6d")
	assert.EqualError(t, odd.Cause, "boom")
	odd = thrown(t, classHex("com.x.E", "cause")+"91")
	assert.Equal(t, map[string]any{"cause": int32(1)}, odd.Fields)
	odd = thrown(t, classHex("com.x.E", "detailMessage", "stackTrace")+"91"+"54")
	assert.Equal(t, map[string]any{"detailMessage": int32(1), "stackTrace": true}, odd.Fields)
}

func TestGenericExceptions(t *testing.T) {
	trace := "com.x.UserException: no such user\n\tat com.x.Users.find(Users.java:7)\n\tat com.x.Main.main(Main.java:1)\nCaused by: java.io.IOException: disk\n\tat com.x.Disk.read(Disk.java:2)\n\t... 1 more\n"
	for _, class := range []string{genericException2, genericException3} {
		e := thrown(t, exceptionHex(0, class, trace, "5190", "exceptionClass", str("com.x.UserException"), "exceptionMessage", str("no such user")))
		assert.Equal(t, &protocol.RemoteError{
			Class: "com.x.UserException", Message: "no such user",
			Stack: []string{"com.x.Users.find(Users.java:7)", "com.x.Main.main(Main.java:1)"},
			Cause: &protocol.RemoteError{Class: "java.io.IOException", Message: "disk", Stack: []string{"com.x.Disk.read(Disk.java:2)"}},
		}, e)
	}
	shared := "com.x.E: no\n\tat com.x.A.b(A.java:1)\nCaused by: java.io.IOException: disk\n\t... 1 more\n"
	e := thrown(t, exceptionHex(0, genericException3, shared, "5190", "exceptionClass", str("com.x.E"), "exceptionMessage", str("no")))
	assert.Equal(t, &protocol.RemoteError{Class: "java.io.IOException", Message: "disk"}, e.Cause, "it has no frames of its own")
	e = thrown(t, exceptionHex(0, genericException3, "text", "5190", "exceptionClass", "4e", "exceptionMessage", "4e"))
	assert.Equal(t, genericException3, e.Class)
	e = thrown(t, exceptionHex(0, genericException3, "text", "5190", "exceptionClass", str("com.x.E"), "exceptionMessage", "4e", "more", "91"))
	assert.Equal(t, "com.x.E", e.Error())
	assert.Equal(t, map[string]any{"more": int32(1)}, e.Fields)
}

// An undeclared exception comes printed in a RuntimeException.
func TestUndeclaredExceptions(t *testing.T) {
	printed := "com.x.Undeclared: went wrong\n\tat com.x.A.b(A.java:1)\n"
	e := thrown(t, exceptionHex(0, "java.lang.RuntimeException", printed, "5190"))
	assert.Equal(t, printed, e.Message)
	assert.Equal(t, &protocol.RemoteError{Class: "com.x.Undeclared", Message: "went wrong", Stack: []string{"com.x.A.b(A.java:1)"}}, e.Cause)
	assert.Nil(t, thrown(t, exceptionHex(0, "java.lang.RuntimeException", "nothing printed", "5190")).Cause)
	assert.Nil(t, thrown(t, exceptionHex(0, "java.lang.RuntimeException", "no class here!\n\tat x", "5190")).Cause)
}

func TestStackTraces(t *testing.T) {
	frame := func(n int, class, method, file string, line int32) string {
		head := fmt.Sprintf("%02x", 0x60+n)
		if n == 1 {
			head = classHexAs(1, "java.lang.StackTraceElement", "declaringClass", "methodName", "fileName", "lineNumber", "moduleName")
		}
		f := str(file)
		if file == "" {
			f = "4e"
		}
		return head + str(class) + str(method) + f + encodedInt(line) + str("java.base")
	}
	trace := "74" + str("[java.lang.StackTraceElement") + frame(1, "com.x.A", "b", "A.java", 7)
	for _, f := range []string{"com.x.A", "com.x.B", "com.x.C"} {
		file, line := "A.java", int32(-2)
		switch f {
		case "com.x.B":
			file, line = "", 5
		case "com.x.C":
			line = -1
		}
		trace += "61" + frame(1, f, "m", file, line)[len(classHexAs(1, "java.lang.StackTraceElement", "declaringClass", "methodName", "fileName", "lineNumber", "moduleName")):]
	}
	e := thrown(t, classHex("com.x.E", "stackTrace")+trace)
	assert.Equal(t, []string{"com.x.A.b(A.java:7)", "com.x.A.m(Native Method)", "com.x.B.m(Unknown Source)", "com.x.C.m(A.java)"}, e.Stack)
}

// A registered type that the exception does not fit takes nothing away.
func TestExceptionsThatDoNotFitTheirGoType(t *testing.T) {
	require.NoError(t, Register(&OrderException{}))
	e := thrown(t, exceptionHex(0, "com.x.OrderException", "a", "5190", "code", str("no number"), "next", "5190", "last", exceptionHex(1, "com.x.B", "b", "5190")))
	assert.Nil(t, e.Value)
	assert.Equal(t, "a", e.Message)
	assert.Equal(t, "no number", e.Fields["code"])
	assert.Same(t, e, e.Fields["next"])
}
