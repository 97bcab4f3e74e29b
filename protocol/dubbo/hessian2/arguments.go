package hessian2

import (
	"fmt"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// AppendArguments appends the arguments of one request. All of them share one
// table of references. On error b is returned as it was.
func AppendArguments(b []byte, args []any) ([]byte, error) {
	start := len(b)
	var enc *hessian.Encoder
	for i, a := range args {
		var err error
		if out, ok := appendScalar(b, a); ok {
			b = out
			continue
		}
		if enc == nil {
			enc = hessian.NewEncoder()
		}
		if b, err = appendLibrary(b, enc, a); err != nil {
			return b[:start], fmt.Errorf("hessian2: argument %d (%T): %w", i, a, err)
		}
	}
	return b, nil
}

func appendScalar(b []byte, a any) ([]byte, bool) {
	switch v := a.(type) {
	case nil:
		return AppendNull(b), true
	case string:
		return AppendString(b, v), true
	case bool:
		return AppendBool(b, v), true
	case int32:
		return AppendInt32(b, v), true
	case int64:
		return AppendInt64(b, v), true
	case int:
		return AppendInt64(b, int64(v)), true
	case float64:
		return AppendFloat64(b, v), true
	case float32:
		return AppendFloat32(b, v), true
	case []byte:
		if v == nil {
			return AppendNull(b), true
		}
		return AppendBytes(b, v), true
	case time.Time:
		return AppendTime(b, v), true
	}
	return b, false
}

func appendLibrary(b []byte, enc *hessian.Encoder, a any) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = b, fmt.Errorf("cannot be encoded: %v", r)
		}
	}()
	start := len(enc.Buffer())
	if err := enc.Encode(a); err != nil {
		return b, err
	}
	return append(b, enc.Buffer()[start:]...), nil
}
