package hessian2

import (
	"math"
	"reflect"
	"time"

	"github.com/apache/dubbo-go-hessian2/java8_time"
)

const nanosPerDay = int64(24 * time.Hour)

// compactTimeInto sets a LocalDate from days since 1970, or a LocalTime from
// nanoseconds of the day, and reports whether v is one.
func compactTimeInto(v int64, dst reflect.Value) bool {
	switch p := dst.Addr().Interface().(type) {
	case *java8_time.LocalDate:
		if v < math.MinInt32 || v > math.MaxInt32 {
			return false
		}
		t := time.Unix(v*86400, 0).UTC()
		*p = java8_time.LocalDate{Year: int32(t.Year()), Month: int32(t.Month()), Day: int32(t.Day())}
	case *java8_time.LocalTime:
		if v < 0 || v >= nanosPerDay {
			return false
		}
		t := time.Unix(0, v).UTC()
		*p = java8_time.LocalTime{Hour: int32(t.Hour()), Minute: int32(t.Minute()), Second: int32(t.Second()), Nano: int32(t.Nanosecond())}
	}
	return true
}

// timeObject reads an object that is a point in time into a time.Time: what wraps a
// Date, and the java.time classes that name a day. Local ones are taken as UTC.
func (d *decoder) timeObject(at, n int, c *class, dst reflect.Value) error {
	if k := c.field("value"); k >= 0 && len(c.fields) == 1 { // java.sql
		return d.oneField(n, c, k, dst)
	}
	typ := d.goType(c)
	if typ != nil && typ.PkgPath() == localDateType.PkgPath() {
		v, err := d.registeredObject(at, -1, c, typ)
		if err != nil {
			return err
		}
		if t, ok := asTime(v); ok {
			setTime(dst, t)
			d.keep(n, dst)
			return nil
		}
	}
	return d.fail(at, "an object of %s does not fit the Go type %s", c.name, dst.Type())
}

func asTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case *java8_time.Instant:
		return time.Unix(v.Seconds, int64(v.Nanos)).UTC(), true
	case *java8_time.LocalDate:
		return localTime(*v, java8_time.LocalTime{}, time.UTC), true
	case *java8_time.LocalDateTime:
		return localTime(v.Date, v.Time, time.UTC), true
	case *java8_time.OffsetDateTime:
		return localTime(v.DateTime.Date, v.DateTime.Time, zone("", v.Offset)), true
	case *java8_time.ZonedDateTime:
		return localTime(v.DateTime.Date, v.DateTime.Time, zone(v.ZoneId, v.Offset)), true
	}
	return time.Time{}, false
}

func localTime(d java8_time.LocalDate, t java8_time.LocalTime, l *time.Location) time.Time {
	return time.Date(int(d.Year), time.Month(d.Month), int(d.Day), int(t.Hour), int(t.Minute), int(t.Second), int(t.Nano), l)
}

func zone(name string, o java8_time.ZoneOffSet) *time.Location {
	if o.Seconds == 0 {
		return time.UTC
	}
	return time.FixedZone(name, int(o.Seconds))
}
