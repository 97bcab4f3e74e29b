package hessian2

import (
	"fmt"
	"reflect"

	hessian "github.com/apache/dubbo-go-hessian2"
)

// The registry of dubbo-go-hessian2 can be written, but not read. What it knows
// shows in what its codec does; everything is done behind recover, because user
// code runs in it and because it panics on many inputs.

// registerWithLibrary adds the pair to the library's registry, or reports whom the
// name belongs to there.
func registerWithLibrary(t reflect.Type, name string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("dubbo-go-hessian2 panics: %v", p)
		}
	}()
	if known := libraryType(name); known != nil {
		if known != t {
			return fmt.Errorf("the Java class %s is registered with dubbo-go-hessian2 for %s", name, known)
		}
		return nil
	}
	v := reflect.New(t)
	if e, ok := v.Elem().Interface().(hessian.POJOEnum); ok {
		hessian.RegisterJavaEnum(e)
	} else if e, ok := v.Interface().(hessian.POJOEnum); ok {
		hessian.RegisterJavaEnum(e) // the library writes enums with pointer methods, but cannot read them
		return nil
	} else {
		hessian.RegisterPOJO(v.Interface().(hessian.POJO))
	}
	if libraryType(name) != t {
		return fmt.Errorf("dubbo-go-hessian2 did not take %s as the Java class %s", t, name)
	}
	return nil
}

// libraryType returns the struct or enum type that the library makes of objects of
// the Java class, nil for none.
func libraryType(name string) (t reflect.Type) {
	switch name { // their objects do not decode without content
	case "java.math.BigDecimal":
		return decimalType
	case "java.math.BigInteger":
		return integerType
	case "java.sql.Date":
		return sqlDateType
	case "java.sql.Time":
		return sqlTimeType
	}
	defer func() {
		if recover() != nil {
			t = nil
		}
	}()
	// An object without fields; an enum reads one, whatever the definition says.
	b := AppendString([]byte{tagClass}, name)
	b = append(AppendInt32(b, 0), tagObjectShort, tagNull)
	v, err := hessian.NewDecoderSize(b, 64).Decode()
	if err != nil || v == nil {
		return nil
	}
	t, ok := pointee(reflect.TypeOf(v))
	if !ok || t.Kind() != reflect.Struct && !isEnum(t) {
		return nil
	}
	return t
}

// libraryName returns the Java class that the library sends values of t as, when t
// was registered by hessian.RegisterPOJOMapping.
func libraryName(t reflect.Type) (name string, ok bool) {
	e := hessian.NewEncoder()
	encodeQuietly(e, reflect.New(t).Interface())
	d := decoder{b: e.Buffer()}
	if c, err := d.tag(); err != nil || c != tagClass {
		return "", false
	}
	name, err := d.string("a class name")
	return name, err == nil
}

// encodeQuietly encodes v as far as the library gets.
func encodeQuietly(e *hessian.Encoder, v any) {
	defer func() { _ = recover() }()
	_ = e.Encode(v)
}

// libraryCollection returns the type of the Go object that stands for a Java
// collection class (hessian.SetCollectionSerialize), nil for none.
func libraryCollection(name string) (t reflect.Type) {
	s, ok := hessian.GetSerializer(name)
	if !ok {
		return nil
	}
	if _, ok := s.(hessian.JavaCollectionSerializer); !ok {
		return nil
	}
	defer func() {
		if recover() != nil {
			t = nil
		}
	}()
	v, err := hessian.NewDecoderSize(AppendString([]byte{tagListShort}, name), 64).Decode()
	if _, ok := v.(hessian.JavaCollectionObject); err != nil || !ok {
		return nil
	}
	return reflect.TypeOf(v).Elem()
}

// custom reports whether the library would run a serializer of the user's for the
// class (hessian.SetSerializer).
func custom(name string) bool {
	s, ok := hessian.GetSerializer(name)
	if !ok {
		return false
	}
	switch s.(type) {
	case hessian.IntegerSerializer, hessian.DecimalSerializer, hessian.JavaSqlTimeSerializer, hessian.JavaCollectionSerializer:
		return false
	}
	return true
}
