package hessian2

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/protocol"
)

// The classes in which Dubbo wraps the exceptions of generic calls, when they do
// not come as they are.
const (
	genericException2 = "com.alibaba.dubbo.rpc.service.GenericException"
	genericException3 = "org.apache.dubbo.rpc.service.GenericException"
)

// thrown reads the exception of a result.
func (d *decoder) thrown() (*protocol.RemoteError, error) {
	d.plain = false // it may be read twice
	e, err := d.exception()
	if err != nil {
		return nil, err
	}
	if !ends(e, new(int)) { // the causes do, so it is the Go values
		for c := e; c != nil; c = c.Cause {
			c.Value = nil
		}
	}
	return e, nil
}

// exception reads what stands for an exception.
func (d *decoder) exception() (*protocol.RemoteError, error) {
	at := d.i
	t, err := d.tag()
	if err != nil {
		return nil, err
	}
	switch kinds[t] {
	case kindObject:
		return d.throwable(t)
	case kindNull:
		return &protocol.RemoteError{Message: "exception without content"}, nil
	case kindString: // from providers in other languages (B152)
		s, err := d.text(t)
		return &protocol.RemoteError{Message: s}, err
	}
	v, err := d.natural(t)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(map[string]any); ok {
		return fromMap(m), nil
	}
	return nil, d.fail(at, "%s instead of an exception", kinds[t].a())
}

// fromMap makes an exception of a map that stands for one.
func fromMap(m map[string]any) *protocol.RemoteError {
	e := &protocol.RemoteError{Fields: m}
	e.Class, _ = m[classKey].(string)
	for _, key := range []string{"detailMessage", "message"} {
		if s, ok := m[key].(string); ok {
			e.Message = s
			break
		}
	}
	return e
}

var remoteErrorType = reflect.TypeFor[*protocol.RemoteError]()

// throwable reads an exception object: what every Throwable has, and the fields of
// its own class by their names (B148).
func (d *decoder) throwable(t byte) (*protocol.RemoteError, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	n, c, err := d.objectHead(t)
	if err != nil {
		return nil, err
	}
	e := &protocol.RemoteError{Class: c.name}
	d.keep(n, reflect.ValueOf(e))
	for range c.values() - len(c.fields) {
		if err := d.skip(); err != nil {
			return nil, err
		}
	}
	for _, name := range c.fields {
		if err := d.throwableField(e, name); err != nil {
			return nil, under("."+name, err)
		}
	}
	d.end(n)
	e.Value = d.goException(n, c)
	switch c.name {
	case genericException2, genericException3:
		unwrapGeneric(e)
	case "java.lang.RuntimeException":
		unwrapUndeclared(e)
	}
	return e, nil
}

func (d *decoder) throwableField(e *protocol.RemoteError, name string) (err error) {
	t := d.peek()
	switch {
	case name == "detailMessage" && kinds[t] == kindString:
		e.Message, err = d.string("the message")
	case name == "cause" && canBeCause(kinds[t]):
		e.Cause, err = d.cause()
	case name == "stackTrace" && kinds[t] == kindList:
		e.Stack, err = d.stack()
	case name == "suppressedExceptions", name == "serialVersionUID", kinds[t] == kindNull && (name == "detailMessage" || name == "stackTrace"):
		err = d.skip()
	default:
		var v any
		if v, err = d.any(); err == nil {
			if e.Fields == nil {
				e.Fields = map[string]any{}
			}
			e.Fields[name] = v
		}
	}
	return err
}

// canBeCause tells a Throwable's cause from a field of another type with that name.
func canBeCause(k kind) bool {
	return k == kindNull || k == kindObject || k == kindReference || k == kindString || k == kindMap
}

// cause reads the cause of an exception. One that refers to an exception around it
// says that there is none: the chain never is a cycle (B150).
func (d *decoder) cause() (*protocol.RemoteError, error) {
	t, err := d.tag()
	if err != nil {
		return nil, err
	}
	switch kinds[t] {
	case kindNull:
		return nil, nil
	case kindObject:
		return d.throwable(t)
	case kindReference:
		at := d.i - 1
		n, err := d.index()
		if err != nil || d.refs[n].end == 0 {
			return nil, err
		}
		for _, v := range d.refs[n].values {
			if v.Type() == remoteErrorType {
				return v.Interface().(*protocol.RemoteError), nil
			}
		}
		var e *protocol.RemoteError
		err = d.again(n, at, func() (err error) {
			e, err = d.exception()
			return err
		})
		return e, err
	default:
		d.i--
		return d.exception()
	}
}

// stack reads a stack trace as Java prints it.
func (d *decoder) stack() ([]string, error) {
	var frames []struct {
		DeclaringClass, MethodName, FileName string
		LineNumber                           int64
	}
	if err := d.into(reflect.ValueOf(&frames).Elem()); err != nil {
		return nil, err
	}
	stack := make([]string, len(frames))
	for i, f := range frames {
		place := fmt.Sprintf("%s:%d", f.FileName, f.LineNumber)
		switch {
		case f.LineNumber == -2:
			place = "Native Method"
		case f.FileName == "":
			place = "Unknown Source"
		case f.LineNumber < 0:
			place = f.FileName
		}
		stack[i] = f.DeclaringClass + "." + f.MethodName + "(" + place + ")"
	}
	return stack, nil
}

// goException reads the exception once more as the Go type registered for it, nil
// for none. Without it the rest of the exception is still good.
func (d *decoder) goException(n int, c *class) any {
	typ := d.goType(c)
	if typ == nil || typ.Kind() != reflect.Struct || n < 0 {
		return nil
	}
	known := slices.Clone(d.refs)
	p := reflect.New(typ)
	if err := d.again(n, d.i, func() error { return d.into(p.Elem()) }); err != nil {
		d.refs = known
		return nil
	}
	return p.Interface()
}

// ends reports whether errors.Is would come to an end (B150). Java's causes are no
// cycle, but what a provider sends may be one.
func ends(err error, steps *int) bool {
	const most = 2 * maxDepth
	if *steps++; *steps > most {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		next := e.Unwrap()
		return next == nil || ends(next, steps)
	case interface{ Unwrap() []error }:
		for _, next := range e.Unwrap() {
			if next != nil && !ends(next, steps) {
				return false
			}
		}
	}
	return true
}

// unwrapGeneric makes the exception of a generic call what the provider threw.
func unwrapGeneric(e *protocol.RemoteError) {
	class, _ := e.Fields["exceptionClass"].(string)
	if class == "" {
		return
	}
	trace := e.Message // the message of the wrapper is the printed trace of the original
	e.Class = class
	e.Message, _ = e.Fields["exceptionMessage"].(string)
	delete(e.Fields, "exceptionClass")
	delete(e.Fields, "exceptionMessage")
	if len(e.Fields) == 0 {
		e.Fields = nil
	}
	e.Value = nil
	if original := fromTrace(trace); original != nil {
		e.Stack, e.Cause = original.Stack, original.Cause
	}
}

// unwrapUndeclared gives a RuntimeException in which Dubbo's ExceptionFilter has
// printed an exception that the interface does not declare that exception as cause.
func unwrapUndeclared(e *protocol.RemoteError) {
	if e.Cause != nil || !strings.Contains(e.Message, "\n\tat ") {
		return
	}
	e.Cause = fromTrace(e.Message)
}

// fromTrace makes an exception of a printed stack trace, nil if it is none.
func fromTrace(text string) *protocol.RemoteError {
	own, cause, caused := strings.Cut(text, "\nCaused by: ")
	head, frames, found := strings.Cut(own, "\n\tat ")
	if !found { // of a cause whose frames are all those of the exception around it
		head, _, found = strings.Cut(own, "\n\t... ")
	}
	class, message, _ := strings.Cut(strings.TrimSpace(head), ": ")
	if !found || !isClassName(class) {
		return nil
	}
	e := &protocol.RemoteError{Class: class, Message: message}
	for line := range strings.Lines("at " + frames) {
		frame, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !ok { // "... 12 more", "Suppressed: …"
			break
		}
		e.Stack = append(e.Stack, frame)
	}
	if caused {
		e.Cause = fromTrace(cause)
	}
	return e
}
