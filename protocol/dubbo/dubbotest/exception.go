package dubbotest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gofer-rpc/gofer/protocol"
)

// defaultClass is what Go's errors are.
const defaultClass = "java.lang.RuntimeException"

// classKey makes a map an object of the class that it names.
const classKey = "_class"

// frameOf is java.lang.StackTraceElement.
type frameOf struct {
	DeclaringClass, MethodName, FileName string
	LineNumber                           int32
}

// JavaClassName returns the class.
func (frameOf) JavaClassName() string { return "java.lang.StackTraceElement" }

// throwable makes the object that hessian-lite makes of an exception. One without a
// cause is its own cause, as in Java.
func throwable(e *protocol.RemoteError) map[string]any {
	var message any // null if there is none
	if e.Message != "" {
		message = e.Message
	}
	m := map[string]any{
		classKey: e.Class, "detailMessage": message, "stackTrace": stackOf(e), "suppressedExceptions": []any{},
	}
	for name, value := range e.Fields {
		m[name] = value
	}
	m["cause"] = m
	if e.Cause != nil {
		m["cause"] = throwable(e.Cause)
	}
	return m
}

// exceptionOf makes an exception of what a function has returned, one without a class
// unless it is one of Java's. A nil pointer is a common mistake, and no nil error.
func exceptionOf(err error) *protocol.RemoteError {
	if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
		return &protocol.RemoteError{Message: fmt.Sprintf("the function returned a nil %T as its error, which is not nil as an error: return nil itself", err)}
	}
	var e *protocol.RemoteError
	if errors.As(err, &e) && e != nil {
		return e
	}
	return &protocol.RemoteError{Message: err.Error()}
}

// sound returns the exception with a class, and without a cause that is one of its
// own effects.
func sound(e *protocol.RemoteError) *protocol.RemoteError {
	seen := map[*protocol.RemoteError]bool{}
	var first protocol.RemoteError
	for at := &first; ; at = at.Cause {
		seen[e], *at = true, *e
		if at.Class == "" {
			at.Class = defaultClass
		}
		if e = e.Cause; e == nil || seen[e] {
			at.Cause = nil
			return &first
		}
		at.Cause = new(protocol.RemoteError)
	}
}

// stackOf reads the frames of a stack trace: class.method(File.java:12).
func stackOf(e *protocol.RemoteError) []*frameOf {
	frames := []*frameOf{}
	for _, line := range e.Stack {
		f := &frameOf{LineNumber: -1}
		call, place, _ := strings.Cut(line, "(")
		if dot := strings.LastIndexByte(call, '.'); dot >= 0 {
			f.DeclaringClass, f.MethodName = call[:dot], call[dot+1:]
		}
		file, number, _ := strings.Cut(strings.TrimSuffix(place, ")"), ":")
		f.FileName = file
		if _, err := fmt.Sscanf(number, "%d", &f.LineNumber); err != nil {
			f.LineNumber = -1
		}
		frames = append(frames, f)
	}
	return frames
}

// miscast is what an argument of another type than the method's ends in.
func miscast(given, declared string) *protocol.RemoteError {
	return &protocol.RemoteError{
		Class:   "java.lang.ClassCastException",
		Message: fmt.Sprintf("class %s cannot be cast to class %s", boxed(given), boxed(declared)),
		Stack:   []string{"com.alibaba.dubbo.common.bytecode.Wrapper0.invokeMethod(Wrapper0.java)"},
	}
}

// boxed is the class of a type's values.
func boxed(declared string) string {
	_, primitive := primitiveTypes[declared]
	switch {
	case !primitive:
		return declared
	case declared == "int":
		return "java.lang.Integer"
	case declared == "char":
		return "java.lang.Character"
	}
	return "java.lang." + strings.ToUpper(declared[:1]) + declared[1:]
}

// genericException is how all releases wrap an exception of a generic call.
func genericException(e *protocol.RemoteError) *protocol.RemoteError {
	return &protocol.RemoteError{
		Class:   "com.alibaba.dubbo.rpc.service.GenericException",
		Message: printed(e),
		Fields:  map[string]any{"exceptionClass": e.Class, "exceptionMessage": e.Message},
	}
}

// printed is the stack trace as Java prints it.
func printed(e *protocol.RemoteError) string {
	var b strings.Builder
	for lead := ""; e != nil; e, lead = e.Cause, "Caused by: " {
		b.WriteString(lead + e.Error() + "\n")
		for _, line := range e.Stack {
			fmt.Fprintf(&b, "\tat %s\n", line)
		}
		if len(e.Stack) == 0 {
			b.WriteString("\tat " + here + "\n")
		}
	}
	return b.String()
}

// listed are the exceptions of the JDK that the allow list of Dubbo 3.3 has. It
// goes by prefix, so Runtime stands for more than RuntimeException.
var listed = []string{
	"java.lang.Exception", "java.lang.RuntimeException", "java.lang.NullPointerException",
	"java.lang.IllegalArgumentException", "java.lang.IllegalStateException", "java.lang.IllegalAccess",
	"java.lang.IllegalMonitorStateException", "java.lang.IndexOutOfBoundsException",
	"java.lang.StringIndexOutOfBoundsException", "java.lang.NumberFormatException",
	"java.lang.NegativeArraySizeException", "java.lang.ClassCastException", "java.lang.SecurityException",
	"java.lang.InterruptedException", "java.lang.NoSuchMethod", "java.lang.NoSuchField",
	"java.lang.OutOfMemoryError", "java.lang.StackOverflowError", "java.lang.LinkageError",
}

// unlisted returns the first class, of the exception or its causes, that a provider
// of the profile refuses to send; "" for none. What is no class of the JDK is taken
// for one of the interface's signatures, which are listed.
func (p Profile) unlisted(e *protocol.RemoteError) string {
	if p != Dubbo33 {
		return ""
	}
next:
	for ; e != nil; e = e.Cause {
		if !strings.HasPrefix(e.Class, "java.") && !strings.HasPrefix(e.Class, "javax.") {
			continue
		}
		for _, l := range listed {
			if strings.HasPrefix(e.Class, l) {
				continue next
			}
		}
		return e.Class
	}
	return ""
}

// unsendable is the text of status 50 for an exception that was not sent.
func (p Profile) unsendable(c *Call, e *protocol.RemoteError, cause string) string {
	return p.unsent(c, "null, exception="+e.Error(), cause)
}

// unsent is the text of status 50: the result as Java prints it, and why it could
// not be encoded.
func (p Profile) unsent(c *Call, result, cause string) string {
	kind := "AppResponse [value="
	if p == Dubbo26 {
		kind = "RpcResult [result="
	}
	return fmt.Sprintf("Failed to send response: Response [id=%d, version=%s, status=20, event=false, error=null, result=%s%s]], cause: %s",
		int64(c.ID), protocolVersion, kind, result, trace("java.io.IOException", cause))
}
