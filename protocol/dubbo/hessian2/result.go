package hessian2

import (
	"fmt"
	"reflect"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// The flags at the start of a result. Adding 3 says that attachments follow (B105).
const (
	flagException = iota
	flagValue
	flagNull
	flagAttachments
	flagLimit = 2 * flagAttachments
)

// DecodeResult decodes the body of a response with status 20 into r: the value into
// r.Target (or r.Value when Target is nil), and the attachments if they are wanted.
// An exception of the method is returned as remote. An error is a [*DecodeError];
// the target is then reset to its zero value.
//
// It does not keep body. A scalar in a target of its type is decoded without any
// allocation but that of the value.
func DecodeResult(body []byte, r *protocol.Result) (remote *protocol.RemoteError, err error) {
	target := reflect.ValueOf(r.Target)
	if r.Target != nil && (target.Kind() != reflect.Pointer || target.IsNil()) {
		return nil, fmt.Errorf("hessian2: the target of a result must be a pointer that is not nil, not %T", r.Target)
	}
	d := newDecoder(body)
	if remote, err = d.message(r); err != nil {
		if r.Target != nil {
			target.Elem().SetZero()
		}
		r.Reset()
		return nil, err
	}
	return remote, nil
}

func (d *decoder) message(r *protocol.Result) (remote *protocol.RemoteError, err error) {
	defer d.guard(&err)
	flag, err := d.int32("the flag of a result")
	if err != nil {
		return nil, err
	}
	if flag < 0 || flag >= flagLimit {
		return nil, d.fail(0, "the result has the unknown flag %d", flag)
	}
	switch flag % flagAttachments {
	case flagNull:
		r.Null = true
	case flagValue:
		err = d.result(r)
	default:
		remote, err = d.thrown()
	}
	if err == nil && flag >= flagAttachments {
		err = d.attachments(r)
	}
	if err == nil && d.i < len(d.b) {
		err = d.fail(d.i, "%d bytes are left after the result", len(d.b)-d.i)
	}
	return remote, err
}

// guard, deferred, makes an error of a panic in the methods of the user's types:
// String and EnumValue of enums, Set of collections.
func (d *decoder) guard(err *error) {
	if p := recover(); p != nil {
		*err = d.fail(d.i, "a Go type panics: %v", p)
	}
}

func (d *decoder) result(r *protocol.Result) error {
	t, err := d.tag()
	if err != nil {
		return err
	}
	k := kinds[t]
	if k == kindNull {
		r.Null = true
		return nil
	}
	switch p := r.Target.(type) {
	case nil:
		r.Value, err = d.natural(t)
		return err
	case *any:
		*p, err = d.natural(t)
		return err
	case *string:
		if k == kindString {
			*p, err = d.text(t)
			return err
		}
	case *bool:
		if k == kindBool {
			*p = t == tagTrue
			return nil
		}
	case *int64:
		if k == kindLong || k == kindInt {
			*p, err = d.integer(t)
			return err
		}
	case *float64:
		if k == kindDouble {
			*p, err = d.double(t)
			return err
		}
	case *[]byte:
		if k == kindBinary {
			*p, err = d.binary(t)
			return err
		}
	case *time.Time:
		if k == kindDate {
			*p, err = d.date(t)
			return err
		}
	case *struct{}: // void: whatever comes
		d.i--
		return d.skip()
	}
	return d.value(t, reflect.ValueOf(r.Target).Elem())
}

// usualAttachments are what every provider sends and most send alone: a map with
// dubbo=2.0.2.
const usualAttachments = "H\x05dubbo\x052.0.2Z"

// attachments reads the attachments that end a result, or checks that they are there.
func (d *decoder) attachments(r *protocol.Result) error {
	if !r.WantAttachments && string(d.b[d.i:]) == usualAttachments {
		d.i = len(d.b)
		return nil
	}
	if !r.WantAttachments || d.peek() == tagNull {
		return under("attachments", d.skip())
	}
	at := d.i
	v, err := d.any()
	if err != nil {
		return under("attachments", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return d.fail(at, "the attachments are a %T, not a map with string keys", v)
	}
	r.Attachments = m
	return nil
}
