package dubbotest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// handler is a Go function that serves a method.
type handler struct {
	hessian2.Signature
	fn       reflect.Value
	params   []reflect.Type // of the method
	context  bool           // takes one before
	result   bool
	hasError bool
}

// newHandler checks a function against a signature.
func newHandler(signature string, function any) (*handler, error) {
	sig, err := hessian2.ParseSignature(signature)
	if err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) (*handler, error) {
		return nil, fmt.Errorf("function of %s: %s", sig, fmt.Sprintf(format, args...))
	}
	h := &handler{Signature: sig, fn: reflect.ValueOf(function)}
	if h.fn.Kind() != reflect.Func || h.fn.IsNil() {
		return bad("a %T is no function", function)
	}
	t := h.fn.Type()
	if t.IsVariadic() {
		return bad("%s has a variable number of parameters", t)
	}
	for i := range t.NumIn() {
		if i == 0 && t.In(0) == contextType {
			h.context = true
			continue
		}
		h.params = append(h.params, t.In(i))
	}
	if len(h.params) != len(sig.Types) {
		return bad("%s takes %d arguments, the method has %d", t, len(h.params), len(sig.Types))
	}
	for i, p := range h.params {
		if err := takes(sig.Types[i], p); err != nil {
			return bad("parameter %d: %v", i+1, err)
		}
	}
	n := t.NumOut()
	h.hasError = n > 0 && t.Out(n-1) == errorType
	if h.hasError {
		n--
	}
	if h.result = n == 1; n > 1 {
		return bad("%s returns more than a result and an error", t)
	}
	return h, nil
}

// takes finds out whether a Go type can hold what is declared, for scalars and
// strings: a function that does not would get zero values for ever.
func takes(declared string, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Interface {
		return nil
	}
	if element, isArray := strings.CutSuffix(declared, "[]"); isArray && element != "byte" && element != "char" &&
		t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return fmt.Errorf("the Go type %s does not take a Java %s: a slice does", t, declared)
	}
	sample, ok := samples[strings.TrimPrefix(declared, "java.lang.")]
	if !ok {
		return nil
	}
	b, err := hessian2.Append(nil, sample)
	if err == nil {
		_, err = hessian2.DecodeInto(b, reflect.New(t).Interface())
	}
	if err != nil {
		return fmt.Errorf("the Go type %s does not take a Java %s", t, declared)
	}
	return nil
}

// samples are values of Java's scalars.
var samples = map[string]any{
	"boolean": true, "Boolean": true, "byte": int32(1), "Byte": int32(1), "short": int32(1), "Short": int32(1),
	"int": int32(1), "Integer": int32(1), "long": int64(1), "Long": int64(1), "char": "x", "Character": "x",
	"float": 0.5, "Float": 0.5, "double": 0.5, "Double": 0.5, "String": "text", "byte[]": []byte{1},
}

func handlerKey(name, descriptor string) string { return name + "(" + descriptor }

func (h *handler) key() string { return handlerKey(h.Name, h.Descriptor) }

// canonical brings the name or signature of a method into the form of Call.Signature.
func canonical(method string) (string, error) {
	if !strings.Contains(method, "(") {
		return strings.TrimSpace(method), nil
	}
	sig, err := hessian2.ParseSignature(method)
	return sig.String(), err
}

// misfit says which argument does not fit the Go type of a function.
type misfit struct {
	at        int // from 0
	primitive bool
	err       error
}

// Error counts arguments from 1.
func (m *misfit) Error() string {
	if m.at < 0 {
		return m.err.Error()
	}
	return fmt.Sprintf("argument %d: %v", m.at+1, m.err)
}

// Unwrap returns what the codec says.
func (m *misfit) Unwrap() error { return m.err }

func (h *handler) misfit(at int, err error) *misfit {
	_, primitive := primitiveTypes[h.Types[at]]
	return &misfit{at, primitive, err}
}

// arguments decodes the arguments of a request into the types of the function. One
// that does not fit stays zero, and is returned as well.
func (h *handler) arguments(body []byte) (args []reflect.Value, bad *misfit) {
	values := make([]reflect.Value, len(h.params))
	targets := make([]any, bodyTexts+len(h.params))
	for i, p := range h.params {
		v := reflect.New(p)
		values[i] = v.Elem()
		targets[bodyTexts+i] = v.Interface()
	}
	for {
		n, err := hessian2.DecodeInto(body, targets...)
		if err == nil {
			return values, bad
		}
		if n < bodyTexts || targets[n] == nil { // it could be read before
			return values, bad
		}
		bad = h.misfit(n-bodyTexts, err)
		values[n-bodyTexts].SetZero()
		targets[n] = nil
	}
}

// genericArguments converts the list of arguments of a generic call.
func (h *handler) genericArguments(list any) (values []reflect.Value, bad *misfit) {
	var args []any
	switch l := list.(type) {
	case []any:
		args = l
	case []string: // String[] is an Object[] in Java
		for _, s := range l {
			args = append(args, s)
		}
	}
	if len(args) != len(h.params) {
		return nil, &misfit{at: -1, err: errCount}
	}
	values = make([]reflect.Value, len(h.params))
	for i, p := range h.params {
		v := reflect.New(p)
		values[i] = v.Elem()
		b, err := hessian2.Append(nil, converted(args[i], h.Types[i]))
		if err == nil {
			_, err = hessian2.DecodeInto(b, v.Interface())
		}
		if err != nil {
			bad = h.misfit(i, err)
			v.Elem().SetZero()
		}
	}
	return values, bad
}

var errCount = errors.New("args.length != types.length")

// converted makes a number or a boolean of a text where one is declared.
func converted(v any, declared string) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	switch strings.TrimPrefix(declared, "java.lang.") {
	case "byte", "Byte", "short", "Short", "int", "Integer", "long", "Long":
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	case "float", "Float", "double", "Double":
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	case "boolean", "Boolean":
		return strings.EqualFold(s, "true")
	}
	return v
}

// call calls the function.
func (h *handler) call(ctx context.Context, args []reflect.Value) (result any, err error) {
	if h.context {
		args = append([]reflect.Value{reflect.ValueOf(ctx)}, args...)
	}
	out := h.fn.Call(args)
	if h.hasError {
		err, _ = out[len(out)-1].Interface().(error)
	}
	if h.result {
		result = out[0].Interface()
	}
	return result, err
}
