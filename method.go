package gofer

import (
	"context"

	"github.com/gofer-rpc/gofer/protocol"
)

// BoundMethod is a method of a reference with its result type: what does not
// change between calls has been worked out once. It is safe for concurrent use
// and stays valid until the reference is closed.
type BoundMethod[T any] struct {
	reference *Reference
	method    *method // nil: inferred from the arguments of each call
	name      string
}

// Method resolves a method in Java's words: name(type,type), such as find(long),
// find(java.lang.String) or put(java.util.List,byte[]). Java finds a method by
// exactly these declared types, so they cannot be guessed in general. A name
// without parentheses is allowed when the Go types of the arguments say it all:
// bool int8 int16 int32 int64 float32 float64 are Java's primitives, pointers to
// them the boxed types, string []byte time.Time and registered types themselves.
//
// T is the Go type of the result: scalars (widened where Java's type is smaller),
// pointers (nil for null), slices, maps, registered structs; any gives the
// natural Go value, struct{} is void. A null answer leaves T at its zero value.
func Method[T any](r *Reference, signature string) (*BoundMethod[T], error) {
	m := &BoundMethod[T]{reference: r, name: signature}
	name, typed, err := splitSignature(signature)
	if err != nil {
		return nil, r.service.badArgument(name, err)
	}
	if typed {
		m.method, err = r.service.methods.declared(signature)
	}
	return m, err
}

// Call calls the method. The error is an [*Error]; a Java exception is found in
// it with errors.As and *[RemoteError].
func (m *BoundMethod[T]) Call(ctx context.Context, args ...any) (T, error) {
	bound := m.method
	if bound == nil {
		var err error
		if bound, err = m.reference.service.methods.inferred(m.name, args); err != nil {
			var zero T
			return zero, err
		}
	}
	return invoke[T](ctx, m.reference, bound, args)
}

// Call calls a method in one line; see [Method] for how signature and T are read.
func Call[T any](ctx context.Context, r *Reference, signature string, args ...any) (T, error) {
	bound, err := r.service.methods.resolve(signature, args)
	if err != nil {
		var zero T
		return zero, err
	}
	return invoke[T](ctx, r, bound, args)
}

// call is one allocation for all that a call needs: the invocation, room for its
// arguments and the value that the wire decodes into.
type call[T any] struct {
	inv   protocol.Invocation
	args  [4]any
	value T
}

func invoke[T any](ctx context.Context, r *Reference, bound *method, args []any) (T, error) {
	c := new(call[T])
	// Copied, so that the caller's argument list can stay on its stack.
	c.inv.Arguments = append(c.args[:0], args...)
	switch t := any(&c.value).(type) {
	case *any, *struct{}: // the natural value; void
	default:
		c.inv.Result.Target = t
	}
	err := r.invoke(ctx, bound, &c.inv)
	if err != nil {
		var zero T
		return zero, err
	}
	if c.inv.Result.Target == nil {
		v, _ := c.inv.Result.Value.(T)
		return v, nil
	}
	return c.value, nil
}

// Generic calls a method without any Go types: Dubbo's $invoke. POJO arguments
// are maps, with the key "class" where the declared type is not the concrete one;
// POJO results come as maps with "class". The signature may leave out the types
// when the method has no overloads: the provider then picks it by name. Parameters
// and statistics go by the real method name (B156).
func (r *Reference) Generic(ctx context.Context, signature string, args ...any) (any, error) {
	bound, wire, err := r.service.methods.generic(signature, args)
	if err != nil {
		return nil, err
	}
	return invoke[any](ctx, r, bound, wire)
}
