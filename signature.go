package gofer

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/url"
)

const (
	maxSignatures = 1024 // kept per reference; more are worked out for each call

	// What begins the keys of remembered methods that are no signatures as written.
	inferredKey, genericKey = "\x00", "\x01"

	invokeName       = "$invoke"
	invokeDescriptor = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
)

// method is a resolved signature of a reference.
type method struct {
	protocol.Method
	types  []string // declared Java types, to check arguments against
	oneWay bool     // parameter return=false
}

func (m *method) check(args []any) error {
	if m.Generic != "" {
		return nil // the provider converts
	}
	return hessian2.ValidateArguments(m.types, args)
}

// methodSet resolves the signatures of one reference and remembers them.
type methodSet struct {
	url   url.URL
	table protocol.MethodTable

	mu    sync.Mutex
	known atomic.Pointer[map[string]*method]
	ids   map[string]int // wire name and descriptor
}

// splitSignature returns the name before the parentheses and whether there are any.
func splitSignature(signature string) (name string, typed bool, err error) {
	name, _, typed = strings.Cut(signature, "(")
	name = strings.TrimSpace(name)
	if !typed {
		err = hessian2.CheckMethodName(name)
	}
	return name, typed, err
}

func (s *methodSet) lookup(key string) *method {
	if m := s.known.Load(); m != nil {
		return (*m)[key]
	}
	return nil
}

// resolve returns the method of a signature; without parentheses the argument
// types decide.
func (s *methodSet) resolve(signature string, args []any) (*method, error) {
	if m := s.lookup(signature); m != nil {
		return m, nil
	}
	if strings.Contains(signature, "(") {
		return s.declared(signature)
	}
	return s.inferred(signature, args)
}

// declared returns the method of a signature with parentheses.
func (s *methodSet) declared(signature string) (*method, error) {
	if m := s.lookup(signature); m != nil {
		return m, nil
	}
	sig, err := hessian2.ParseSignature(signature)
	if err != nil {
		name, _, _ := strings.Cut(signature, "(")
		return nil, s.badArgument(name, err)
	}
	return s.add(signature, sig.Name, protocol.Method{
		Name: sig.Name, WireName: sig.Name, Descriptor: sig.Descriptor, Parameters: sig.Types,
	}), nil
}

// inferred returns the method whose parameter types are those of the arguments.
func (s *methodSet) inferred(name string, args []any) (*method, error) {
	var buf [128]byte
	key, err := hessian2.AppendInferred(append(append(append(buf[:0], inferredKey...), name...), '('), args)
	if err == nil {
		if m := s.known.Load(); m != nil {
			if found := (*m)[string(key)]; found != nil { // does not allocate
				return found, nil
			}
		}
		if _, _, err = splitSignature(name); err == nil {
			return s.addInferred(name, string(key), args)
		}
	}
	return nil, s.badArgument(name, err)
}

func (s *methodSet) addInferred(name, key string, args []any) (*method, error) {
	types, err := hessian2.InferTypes(args)
	if err != nil {
		return nil, s.badArgument(name, err)
	}
	return s.add(key, name, protocol.Method{
		Name: name, WireName: name, Descriptor: hessian2.Descriptor(types), Parameters: types, Inferred: true,
	}), nil
}

// generic returns the method and the wire arguments of a $invoke call.
func (s *methodSet) generic(signature string, args []any) (*method, []any, error) {
	key := genericKey + signature
	m := s.lookup(key)
	if m == nil {
		name, typed, err := splitSignature(signature)
		var types []string
		if typed && err == nil {
			var sig hessian2.Signature
			sig, err = hessian2.ParseSignature(signature)
			name, types = sig.Name, sig.Types
			if types == nil {
				types = []string{} // no parameters; nil leaves the choice to the provider
			}
		}
		if err != nil {
			return nil, nil, s.badArgument(name, err)
		}
		kind := s.url.Param("generic")
		if kind == "" || kind == "false" {
			kind = "true"
		}
		m = s.add(key, name, protocol.Method{
			Name: name, WireName: invokeName, Descriptor: invokeDescriptor, Parameters: types, Generic: kind,
		})
	}
	var types any
	if m.Parameters != nil {
		if len(args) != len(m.Parameters) {
			return nil, nil, s.badArgument(m.Name, fmt.Errorf("%s takes %d arguments, got %d", signature, len(m.Parameters), len(args)))
		}
		types = m.Parameters
	}
	if args == nil {
		args = []any{}
	}
	return m, []any{m.Name, types, args}, nil
}

// add completes a method and remembers it while there is room.
func (s *methodSet) add(key, name string, p protocol.Method) *method {
	p.Service = s.url.Interface()
	p.Slot = s.table.Slot(name)
	view, _ := url.CompileMethod(s.url, name) // checked when the reference was declared
	m := &method{Method: p, types: p.Parameters, oneWay: !view.Return}

	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[string]*method{}
	if old := s.known.Load(); old != nil {
		if m := (*old)[key]; m != nil {
			return m
		}
		if len(*old) >= maxSignatures {
			m.ID = -1
			return m
		}
		known = maps.Clone(*old)
	}
	if s.ids == nil {
		s.ids = map[string]int{}
	}
	wire := p.WireName + "(" + p.Descriptor
	id, ok := s.ids[wire]
	if !ok {
		id = len(s.ids)
		s.ids[wire] = id
	}
	m.ID = id
	known[key] = m
	s.known.Store(&known)
	return m
}

// arguments reports of each known method, by slot, whether one of its signatures has
// parameters, or may have them.
func (s *methodSet) arguments() map[int]bool {
	some := map[int]bool{}
	if known := s.known.Load(); known != nil {
		for _, m := range *known {
			untyped := m.Generic != "" && m.Parameters == nil // the provider knows them
			some[m.Slot] = some[m.Slot] || untyped || len(m.Parameters) > 0
		}
	}
	return some
}

func (s *methodSet) badArgument(name string, err error) error {
	return &Error{Code: ErrBadArgument, Service: s.url.Interface(), Method: name, Retry: protocol.RetryNever, Detail: err.Error(), Cause: err}
}
