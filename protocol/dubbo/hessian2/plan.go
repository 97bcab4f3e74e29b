package hessian2

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// tagKey is the key of struct tags, as in dubbo-go-hessian2: `hessian:"name"`, "-"
// for a field that stays in Go.
const tagKey = "hessian"

// plan is what is known of a struct type before the first value comes.
type plan struct {
	typ    reflect.Type
	fields []planField
	names  []string // of the fields, in Java
	byName map[string]int
}

// planField is one field: exported, not excluded, embedded structs flattened.
type planField struct {
	name   string // in Java
	goName string
	typ    reflect.Type
	index  []int
}

// of returns the field in a struct.
func (f *planField) of(v reflect.Value) reflect.Value {
	if len(f.index) == 1 {
		return v.Field(f.index[0])
	}
	return v.FieldByIndex(f.index)
}

// find returns the index of the field for a Java name, -1 for none. Besides the
// declared name it takes, as dubbo-go-hessian2 does, the Go name as it is, with a
// lower first letter, and all in lower case; then whatever differs in case only.
func (p *plan) find(name string) int {
	if i, ok := p.byName[name]; ok {
		return i
	}
	if i, ok := p.byName[strings.ToLower(name)]; ok {
		return i
	}
	return -1
}

var plans sync.Map // reflect.Type → *plan

// planOf returns the plan of a struct type.
func planOf(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	p := &plan{typ: t, byName: map[string]int{}}
	if err := p.add(t); err != nil {
		return nil, err
	}
	for i, f := range p.fields {
		for _, alias := range []string{f.goName, lowerFirst(f.goName), strings.ToLower(f.goName), strings.ToLower(f.name)} {
			if _, taken := p.byName[alias]; !taken {
				p.byName[alias] = i
			}
		}
	}
	known, _ := plans.LoadOrStore(t, p)
	return known.(*plan), nil
}

// add collects the fields of t: its own ones before those of embedded structs,
// level by level, as dubbo-go-hessian2 orders them.
func (p *plan) add(t reflect.Type) error {
	type level struct {
		typ reflect.Type
		at  []int
	}
	for queue := []level{{typ: t}}; len(queue) > 0; queue = queue[1:] {
		l := queue[0]
		own, named := map[string]string{}, fieldNames(l.typ)
		for i := range l.typ.NumField() {
			f := l.typ.Field(i)
			name, _ := f.Tag.Lookup(tagKey)
			if !f.IsExported() || name == "-" {
				continue
			}
			index := append(slices.Clone(l.at), i)
			if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Type != timeType {
				queue = append(queue, level{f.Type, index})
				continue
			}
			if name == "" {
				name = named(f.Name)
			}
			if first, twice := own[name]; twice {
				return fmt.Errorf("%s: fields %s and %s have the same Java name %q", l.typ, first, f.Name, name)
			}
			own[name] = f.Name
			if _, shadowed := p.byName[name]; shadowed {
				continue // by the outer struct's, as in Go
			}
			p.byName[name] = len(p.fields)
			p.names = append(p.names, name)
			p.fields = append(p.fields, planField{name: name, goName: f.Name, typ: f.Type, index: index})
		}
	}
	return nil
}

// sendable reports the first field of t that no value could be sent from.
func sendable(t reflect.Type) error { return unsendable(t, t.String(), map[reflect.Type]bool{}) }

func unsendable(t reflect.Type, path string, seen map[reflect.Type]bool) error {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.Uintptr, reflect.UnsafePointer:
		return fmt.Errorf("%s: a %s cannot be sent; tag it `hessian:\"-\"`", path, t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		if seen[t] {
			return nil
		}
		seen[t] = true
		if _, ok := pointee(t); !ok {
			return fmt.Errorf("%s: %s points to itself, so nothing can be sent; tag it `hessian:\"-\"`", path, t)
		}
		return unsendable(t.Elem(), path, seen)
	case reflect.Map:
		if seen[t] {
			return nil
		}
		seen[t] = true
		if err := unsendable(t.Key(), path, seen); err != nil {
			return err
		}
		return unsendable(t.Elem(), path, seen)
	case reflect.Struct:
		if seen[t] || isSpecial(t) {
			return nil
		}
		seen[t] = true
		p, err := planOf(t)
		if err != nil {
			return err
		}
		for _, f := range p.fields {
			if err := unsendable(f.typ, path+"."+f.goName, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
