package hessian2

import (
	"fmt"
	"reflect"
)

// DecodeInto decodes the values at the start of a message, one into what each
// target points to; a nil target skips its value. The values share one table of
// classes and references, as [AppendArguments] writes them. It returns the number
// of values decoded: on error, a [*DecodeError] as a rule, the index of the target
// that its value does not fit. Bytes behind the last value are not looked at.
func DecodeInto(b []byte, targets ...any) (n int, err error) {
	d := newDecoder(b)
	for i, target := range targets {
		if target == nil {
			if err := d.skip(); err != nil {
				return i, err
			}
			continue
		}
		v := reflect.ValueOf(target)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			return i, fmt.Errorf("hessian2: a target must be a pointer that is not nil, not %T", target)
		}
		if err := d.into(v.Elem()); err != nil {
			return i, err
		}
	}
	return len(targets), nil
}
