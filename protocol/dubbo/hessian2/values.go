package hessian2

import (
	"fmt"
	"reflect"
)

// DecodeValues decodes all the values of a message into their natural Go values.
// On error, a [*DecodeError], it returns those before.
func DecodeValues(b []byte) (values []any, err error) {
	d := newDecoder(b)
	defer d.guard(&err)
	for d.i < len(b) {
		v, err := d.any()
		if err != nil {
			return values, err
		}
		values = append(values, v)
	}
	return values, nil
}

// DecodeInto decodes the values at the start of a message, one into what each
// target points to; a nil target skips its value. The values share one table of
// classes and references, as [AppendArguments] writes them. It returns the number
// of values decoded: on error, a [*DecodeError] as a rule, the index of the target
// that its value does not fit. Bytes behind the last value are not looked at.
func DecodeInto(b []byte, targets ...any) (n int, err error) {
	d := newDecoder(b)
	defer d.guard(&err)
	for ; n < len(targets); n++ {
		if targets[n] == nil {
			err = d.skip()
		} else if v := reflect.ValueOf(targets[n]); v.Kind() != reflect.Pointer || v.IsNil() {
			err = fmt.Errorf("hessian2: a target must be a pointer that is not nil, not %T", targets[n])
		} else {
			err = d.into(v.Elem())
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
