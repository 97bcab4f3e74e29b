package hessian2

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// registry is the table of Java classes and Go types of the process. It mirrors the
// one of dubbo-go-hessian2, which is global too and cannot be read: what others
// registered there is found by trying, and noted here.
type registry struct {
	mu    sync.Mutex
	table atomic.Pointer[classTable]
}

// classTable is immutable once stored.
type classTable struct {
	types map[string]reflect.Type // Java class → struct or enum type
	names map[reflect.Type]string
}

var registered registry

// Register makes Go types known by their Java class: results that hold objects of
// the class where the Go type is any (or another interface) come as pointers to
// the struct, or as the enum; others come as maps. An example is a struct (or a
// pointer to one) with a method JavaClassName() string, or an enum
// (hessian.POJOEnum). Types that occur only as arguments, or as the wanted type of
// a result, need no registration.
//
// The types are registered with dubbo-go-hessian2 as well, and what is registered
// there is known here. Registering the same pair again does nothing. It is an error
// to give one Java class to two Go types, or two classes to one Go type: the first
// registration stays. Register is safe for concurrent use.
func Register(examples ...any) error {
	for i, e := range examples {
		if err := registered.register(e); err != nil {
			return fmt.Errorf("hessian2: register example %d (%T): %w", i, e, err)
		}
	}
	return nil
}

func (r *registry) register(example any) error {
	if example == nil {
		return fmt.Errorf("nil has no type")
	}
	t, ok := pointee(reflect.TypeOf(example))
	if !ok {
		return fmt.Errorf("%s points to itself", t)
	}
	name, err := declaredName(t)
	if err != nil {
		return err
	}
	if err := sendable(t); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.table.Load(); c != nil {
		if known, ok := c.types[name]; ok {
			if known != t {
				return fmt.Errorf("the Java class %s is registered for %s", name, known)
			}
			return nil
		}
		if known, ok := c.names[t]; ok && known != name {
			return fmt.Errorf("the type is registered as the Java class %s, so it cannot be %s too", known, name)
		}
	}
	if err := registerWithLibrary(t, name); err != nil {
		return err
	}
	r.note(name, t)
	return nil
}

// declaredName returns what the type's JavaClassName says.
func declaredName(t reflect.Type) (string, error) {
	switch {
	case !reflect.PointerTo(t).Implements(pojoType):
		return "", fmt.Errorf("%s has no method JavaClassName() string", t)
	case t.Kind() != reflect.Struct && !isEnum(t):
		return "", fmt.Errorf("%s is neither a struct nor a hessian.POJOEnum of an integer type", t)
	}
	name, err := className(t)
	if err != nil {
		return "", err
	}
	if !isClassName(name) {
		return "", fmt.Errorf("JavaClassName of %s is %q, which is no Java class name", t, name)
	}
	return name, nil
}

// className calls the user's method, which may be made for other values than this one.
func className(t reflect.Type) (name string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("JavaClassName of %s panics: %v", t, p)
		}
	}()
	return reflect.New(t).Interface().(hessian.POJO).JavaClassName(), nil
}

// typeOf returns the Go type registered for a Java class: a struct or an enum.
func (r *registry) typeOf(name string) (reflect.Type, bool) {
	if c := r.table.Load(); c != nil {
		if t, ok := c.types[name]; ok {
			return t, true
		}
	}
	t := libraryType(name)
	if t == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(name, t)
	return t, true
}

// nameOf returns the Java class that values of the struct or enum type t are sent as.
func (r *registry) nameOf(t reflect.Type) (string, error) {
	if c := r.table.Load(); c != nil {
		if name, ok := c.names[t]; ok {
			return name, nil
		}
	}
	if reflect.PointerTo(t).Implements(pojoType) {
		return declaredName(t)
	}
	name, ok := libraryName(t)
	if !ok {
		return "", fmt.Errorf("%s has no Java class: give it a method JavaClassName() string", t)
	}
	if _, known := r.typeOf(name); !known {
		return "", fmt.Errorf("%s has no Java class: give it a method JavaClassName() string", t)
	}
	return name, nil
}

// note adds a pair. The lock is held.
func (r *registry) note(name string, t reflect.Type) {
	next := classTable{types: map[string]reflect.Type{}, names: map[reflect.Type]string{}}
	if c := r.table.Load(); c != nil {
		if c.types[name] == t && c.names[t] == name {
			return
		}
		next.types, next.names = maps.Clone(c.types), maps.Clone(c.names)
	}
	next.types[name], next.names[t] = t, name
	r.table.Store(&next)
}
