package hessian2

import (
	"fmt"
	"reflect"

	hessian "github.com/apache/dubbo-go-hessian2"

	"github.com/gofer-rpc/gofer/protocol"
)

// DecodeResult decodes the body of a response with status 20 into r.
func DecodeResult(body []byte, r *protocol.Result) (remote *protocol.RemoteError, err error) {
	defer func() {
		if p := recover(); p != nil {
			remote, err = nil, fmt.Errorf("hessian2: cannot decode the result: %v", p)
		}
	}()
	d := hessian.NewDecoderSize(body, 64)
	v, err := d.Decode()
	if err != nil {
		return nil, err
	}
	flag, ok := v.(int32)
	if !ok || flag < 0 || flag > 5 {
		return nil, fmt.Errorf("hessian2: unknown result flag %v", v)
	}
	if flag%3 == 2 {
		r.Null = true
	} else if v, err = d.Decode(); err != nil {
		return nil, err
	} else if flag%3 == 0 {
		return &protocol.RemoteError{Message: fmt.Sprint(v)}, nil
	} else if v == nil {
		r.Null = true
	} else if r.Target != nil {
		reflect.ValueOf(r.Target).Elem().Set(reflect.ValueOf(v))
	} else {
		r.Value = v
	}
	if flag < 3 || !r.WantAttachments {
		return nil, nil
	}
	if v, err = d.Decode(); err != nil {
		return nil, err
	}
	r.Attachments = map[string]any{}
	m, _ := v.(map[any]any)
	for k, v := range m {
		r.Attachments[fmt.Sprint(k)] = v
	}
	return nil, nil
}

// DecodeText decodes the text of an error status.
func DecodeText(serialization byte, body []byte) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	if serialization != 2 {
		return "", false
	}
	v, err := hessian.NewDecoderSize(body, 64).Decode()
	text, _ = v.(string)
	return text, err == nil
}
