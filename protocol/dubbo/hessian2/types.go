package hessian2

import (
	"reflect"
	"sync"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java8_time"
	"github.com/apache/dubbo-go-hessian2/java_sql_time"
	big "github.com/dubbogo/gost/math/big"
)

// Go types that are not what their kind says.
var (
	anyType           = reflect.TypeFor[any]()
	errorType         = reflect.TypeFor[error]()
	timeType          = reflect.TypeFor[time.Time]()
	runeType          = reflect.TypeFor[hessian.Rune]()
	decimalType       = reflect.TypeFor[big.Decimal]()
	integerType       = reflect.TypeFor[big.Integer]()
	sqlDateType       = reflect.TypeFor[java_sql_time.Date]()
	sqlTimeType       = reflect.TypeFor[java_sql_time.Time]()
	localDateType     = reflect.TypeFor[java8_time.LocalDate]()
	localTimeType     = reflect.TypeFor[java8_time.LocalTime]()
	localDateTimeType = reflect.TypeFor[java8_time.LocalDateTime]()

	pojoType       = reflect.TypeFor[hessian.POJO]()
	enumType       = reflect.TypeFor[hessian.POJOEnum]()
	collectionType = reflect.TypeFor[hessian.JavaCollectionObject]()
	sqlType        = reflect.TypeFor[java_sql_time.JavaSqlTime]()
)

// trait says how a named Go type stands for something in Java.
type trait uint8

const (
	traitNone       trait = iota
	traitEnum             // a POJOEnum of an integer kind
	traitSQL              // java.sql.Date, java.sql.Time
	traitCollection       // hessian.JavaCollectionObject
)

var traits sync.Map // reflect.Type → trait

func traitOf(t reflect.Type) trait {
	if t.PkgPath() == "" || t.Kind() != reflect.Struct && (t.Kind() < reflect.Int || t.Kind() > reflect.Int64) {
		return traitNone
	}
	if known, ok := traits.Load(t); ok {
		return known.(trait)
	}
	found, p := traitNone, reflect.PointerTo(t)
	switch {
	case t.Kind() != reflect.Struct:
		if p.Implements(enumType) {
			found = traitEnum
		}
	case p.Implements(sqlType):
		found = traitSQL
	case p.Implements(collectionType):
		found = traitCollection
	}
	traits.Store(t, found)
	return found
}

func isEnum(t reflect.Type) bool       { return traitOf(t) == traitEnum }
func isSQL(t reflect.Type) bool        { return traitOf(t) == traitSQL }
func isCollection(t reflect.Type) bool { return traitOf(t) == traitCollection }

// pointee returns what pointers of type t lead to in the end. ok is false for a type
// that points to itself, as type P *P does: nothing is behind it.
func pointee(t reflect.Type) (behind reflect.Type, ok bool) {
	for range maxDepth {
		if t.Kind() != reflect.Pointer {
			return t, true
		}
		t = t.Elem()
	}
	return t, false
}

// isSpecial reports whether the fields of the struct type t are not its content.
func isSpecial(t reflect.Type) bool {
	return t == timeType || t == decimalType || t == integerType || isSQL(t) || isCollection(t)
}
