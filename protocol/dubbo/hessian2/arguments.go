package hessian2

import (
	"reflect"
	"time"
)

// AppendArguments appends the arguments of one request. They share one table of
// classes and references, so a value that occurs in two of them arrives as one
// object. On error, an [*ArgumentError], b comes back as it was.
func AppendArguments(b []byte, args []any) ([]byte, error) {
	start := len(b)
	var e encoder
	for i, a := range args {
		if out, ok := appendScalar(b, a); ok {
			b = out
			continue
		}
		e.b = b
		if err := e.argument(a); err != nil {
			err.Index = i
			return b[:start], err
		}
		b = e.b
	}
	return b, nil
}

// argument writes an argument that is no scalar. The methods of its types are the
// user's: what panics in them is an error.
func (e *encoder) argument(v any) (err *ArgumentError) {
	defer func() {
		if p := recover(); p != nil {
			err = e.fail(reflect.TypeOf(v), "a Go type panics: %v", p)
		}
	}()
	return e.value(reflect.ValueOf(v))
}

// Append appends one value, as [AppendArguments] does.
func Append(b []byte, v any) ([]byte, error) { return AppendArguments(b, []any{v}) }

// appendScalar appends what needs neither tables nor reflection.
func appendScalar(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return AppendNull(b), true
	case string:
		return AppendString(b, v), true
	case bool:
		return AppendBool(b, v), true
	case int:
		return AppendInt64(b, int64(v)), true
	case int8:
		return AppendInt32(b, int32(v)), true
	case int16:
		return AppendInt32(b, int32(v)), true
	case int32:
		return AppendInt32(b, v), true
	case int64:
		return AppendInt64(b, v), true
	case uint8:
		return AppendInt32(b, int32(v)), true
	case uint16:
		return AppendInt32(b, int32(v)), true
	case uint32:
		return AppendInt64(b, int64(v)), true
	case float32:
		return AppendFloat32(b, v), true
	case float64:
		return AppendFloat64(b, v), true
	case []byte:
		if v == nil {
			return AppendNull(b), true
		}
		return AppendBytes(b, v), true
	case time.Time:
		return AppendTime(b, v), true
	case *string:
		return appendPointer(b, v, AppendString), true
	case *bool:
		return appendPointer(b, v, AppendBool), true
	case *int32:
		return appendPointer(b, v, AppendInt32), true
	case *int64:
		return appendPointer(b, v, AppendInt64), true
	case *float64:
		return appendPointer(b, v, AppendFloat64), true
	}
	return b, false
}

// appendPointer appends a boxed value.
func appendPointer[T any](b []byte, p *T, appendValue func([]byte, T) []byte) []byte {
	if p == nil {
		return AppendNull(b)
	}
	return appendValue(b, *p)
}
