package hessian2

import (
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java_exception"
	big "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// B105: all six kinds of results.
func TestB105ResultKinds(t *testing.T) {
	attachments := "4805647562626f05322e302e325a"
	for flag, c := range map[string]struct {
		rest      string
		null      bool
		value     any
		exception bool
	}{
		"90": {rest: "04626f6f6d", exception: true},
		"91": {rest: "026f6b", value: "ok"},
		"92": {null: true},
		"93": {rest: "04626f6f6d", exception: true},
		"94": {rest: "026f6b", value: "ok"},
		"95": {null: true},
		// a null in the place of the value, and a flag in its long form
		"914e":       {null: true},
		"944e":       {null: true},
		"4900000001": {rest: "026f6b", value: "ok"},
	} {
		for _, wanted := range []bool{true, false} {
			h := flag + c.rest
			with := flag[:2] >= "93" && flag[:2] <= "95"
			if with {
				h += attachments
			}
			r := protocol.Result{WantAttachments: wanted}
			remote, err := DecodeResult(unhex(t, h), &r)
			require.NoError(t, err, h)
			assert.Equal(t, c.null, r.Null, h)
			assert.Equal(t, c.value, r.Value, h)
			assert.Equal(t, c.exception, remote != nil, h)
			if with && wanted {
				assert.Equal(t, map[string]any{"dubbo": "2.0.2"}, r.Attachments, h)
			} else {
				assert.Nil(t, r.Attachments, h)
			}
		}
	}
	_, err := DecodeResult(unhex(t, "96026f6b"), &protocol.Result{})
	assert.EqualError(t, err, "hessian2: cannot decode at byte 0: the result has the unknown flag 6")
	for _, h := range []string{"8f", "49ffffffff", "e1026f6b", "0131", ""} {
		_, err := DecodeResult(unhex(t, h), &protocol.Result{})
		assert.Error(t, err, h)
	}
	for _, h := range []string{"94026f6b91", "940261624801619190", "95484e5a", "94026f6b4801614e", "9448"} {
		for _, wanted := range []bool{true, false} {
			_, err := DecodeResult(unhex(t, h), &protocol.Result{WantAttachments: wanted})
			if err == nil { // skipped without looking
				assert.False(t, wanted, h)
			}
		}
	}
	r := protocol.Result{WantAttachments: true}
	_, err = DecodeResult(unhex(t, "954e"), &r)
	assert.NoError(t, err, "attachments may be null")
	_, err = DecodeResult(unhex(t, "95"+"480161"+"7a9192"+"0162"+"4e"+"5a"), &r)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": []any{int32(1), int32(2)}, "b": nil}, r.Attachments, "any type since 2.7")
}

// B111: what cannot be decoded is an error with the position, and nothing is left
// in the result.
func TestB111ErrorsTellThePosition(t *testing.T) {
	target := "old"
	r := protocol.Result{Target: &target, WantAttachments: true}
	_, err := DecodeResult(unhex(t, "9165"), &r)
	assert.EqualError(t, err, "hessian2: cannot decode at byte 1: class number 5, but only 0 came before")
	assert.Empty(t, target)

	var list []int
	_, err = DecodeResult(unhex(t, "917b91920161"), &protocol.Result{Target: &list})
	assert.EqualError(t, err, "hessian2: cannot decode [2] at byte 4: a string does not fit the Go type int")
	assert.Nil(t, list)

	_, err = DecodeResult(unhex(t, "91"+classHex("com.x.A", "items")+"7a4e"+classHexAs(1, "com.x.Order", "price")+"0161"), &protocol.Result{Target: new(struct{ Items []*Order })})
	assert.ErrorContains(t, err, "cannot decode .items[1].price at byte 41: a string does not fit the Go type float64")

	for _, target := range []any{"no pointer", (*string)(nil), 7} {
		_, err = DecodeResult(unhex(t, "91026f6b"), &protocol.Result{Target: target})
		assert.ErrorContains(t, err, "must be a pointer")
	}
}

func TestScalarTargets(t *testing.T) {
	assert.Equal(t, "x", decoded[string](t, "0178"))
	assert.Equal(t, true, decoded[bool](t, "54"))
	assert.Equal(t, namedBool(true), decoded[namedBool](t, "54"))
	assert.Equal(t, namedString("x"), decoded[namedString](t, "0178"))
	assert.Equal(t, int64(5), decoded[int64](t, "95"))
	assert.Equal(t, time.Duration(5), decoded[time.Duration](t, "95"))
	assert.Equal(t, 5.0, decoded[float64](t, "95"), "an int where a double is wanted")
	assert.Equal(t, ptr("x"), decoded[*string](t, "0178"))
	assert.Equal(t, ptr(ptr(int16(5))), decoded[**int16](t, "95"))
	assert.Equal(t, []byte{1}, decoded[[]byte](t, "2101"))
	assert.Equal(t, any("x"), decoded[any](t, "0178"))
	assert.Nil(t, decoded[any](t, "4e"))
	assert.Equal(t, struct{}{}, decoded[struct{}](t, "7a9192"), "void: whatever comes")
	refused[bool](t, "91")
	refused[string](t, "54")
	refused[string](t, "2101")
	refused[[]byte](t, "0178")
	refused[[]string](t, "2101")
	refused[chan int](t, "91")
	refused[func()](t, "7a9192")
	refused[[3]byte](t, "2101")
	refused[[3]int](t, "7a9192")
	refused[[1]int](t, "7a9192")
	refused[map[string]int](t, "7a9192")
	refused[[]int](t, "48016191 5a")
	refused[error](t, "0178")
	refused[error](t, "48016191 5a")
	assert.Equal(t, [2]int{1, 2}, decoded[[2]int](t, "7a9192"))
	assert.Equal(t, [2]int{1, 2}, decoded[[2]int](t, "5791925a"))
}

// B131: null wrapper fields.
func TestB131NullFields(t *testing.T) {
	type values struct {
		A  int32
		L  int64
		D  float64
		Bo bool
		S  string
		T  time.Time
	}
	type pointers struct {
		A  *int32
		L  *int64
		D  *float64
		Bo *bool
		S  *string
		T  *time.Time
	}
	head := "4308636f6d2e782e5056960161016c016402626f0173017460"
	assert.Equal(t, values{}, decoded[values](t, head+"4e4e4e4e4e4e"))
	assert.Equal(t, pointers{}, decoded[pointers](t, head+"4e4e4e4e4e4e"))
	full := head + "91e25b540178" + "4b00000000"
	at := time.Unix(0, 0).UTC()
	assert.Equal(t, values{1, 2, 0, true, "x", at}, decoded[values](t, full))
	assert.Equal(t, pointers{ptr(int32(1)), ptr(int64(2)), ptr(0.0), ptr(true), ptr("x"), &at}, decoded[pointers](t, full))
}

// B133: nulls in lists of numbers.
func TestB133NullElements(t *testing.T) {
	assert.Equal(t, []*int32{ptr(int32(1)), nil}, decoded[[]*int32](t, "7a914e"))
	assert.Equal(t, []int32{1, 0}, decoded[[]int32](t, "7a914e"))
	assert.Equal(t, []int64{1, 2}, decoded[[]int64](t, "7a9192"))
	assert.Equal(t, []any{int32(1), nil}, decoded[[]any](t, "7a914e"))
}

// B135: fields that the Go type does not know are left out, with all they hold.
func TestB135UnknownFields(t *testing.T) {
	type known struct {
		A    int
		B    string
		Last *known
	}
	assert.Equal(t, known{A: 1, B: "hi"}, decoded[known](t, "4307636f6d2e782e50930161016202 7a7a60 91 026869 91"))

	nested := classHexAs(1, "com.x.New", "list", "self") + "7a" + "0161" + "48" + "0161" + "71" + str("java.util.HashSet") + "91" + "5a" + "5191"
	h := classHex("com.x.P", "zz", "a", "b", "last") + nested + "91" + "026869" + "5190"
	got := decoded[*known](t, h)
	assert.Equal(t, 1, got.A)
	assert.Equal(t, "hi", got.B)
	assert.Same(t, got, got.Last, "references behind it are right")
	assert.Equal(t, known{}, decoded[known](t, classHex("com.x.P")), "missing fields keep their zero value")

	// What was skipped can be referred to by a known field.
	h = classHex("com.x.P", "zz", "last") + classHexAs(1, "com.x.P2", "a", "b") + "95" + "026869" + "5191"
	assert.Equal(t, &known{A: 5, B: "hi"}, decoded[*known](t, h).Last)
}

// B137: enums, registered or not.
func TestB137Enums(t *testing.T) {
	register(t)
	color := "430b636f6d2e782e436f6c6f7291046e616d6560" + "03524544"
	assert.Equal(t, "RED", decoded[string](t, color), "the name is easy to get")
	assert.Equal(t, map[string]any{"class": "com.x.Color", "name": "RED"}, decoded[any](t, color))
	list := "720c" + "5b636f6d2e782e436f6c6f72" + color + "60" + str("BLUE")
	assert.Equal(t, []string{"RED", "BLUE"}, decoded[[]string](t, list))
	assert.Len(t, decoded[any](t, list), 2)
	assert.Equal(t, []string{"RED", "RED"}, decoded[[]string](t, "7a"+color+"5191"), "the same constant again is a reference")

	woman := classHex("com.demo.Sex", "name") + str("WOMAN")
	assert.Equal(t, Woman, decoded[Sex](t, woman))
	assert.Equal(t, ptr(Woman), decoded[*Sex](t, woman))
	assert.Equal(t, any(Woman), decoded[any](t, woman))
	assert.Equal(t, Woman, decoded[Sex](t, str("WOMAN")), "as a generic call has it")
	assert.Equal(t, []Sex{Woman, Woman}, decoded[[]Sex](t, "7a"+woman+"5191"))
	assert.Equal(t, []any{Woman, Woman}, decoded[any](t, "7a"+woman+"5191"))
	assert.Equal(t, []*Sex{ptr(Woman), nil}, decoded[any](t, "72"+str("[com.demo.Sex")+woman+"4e"))
	assert.Nil(t, decoded[*Sex](t, "4e"))
	assert.Equal(t, woman, encoded(t, Woman))
	assert.Equal(t, woman, encoded(t, ptr(Woman)))
	assert.Equal(t, "4e", encoded(t, (*Sex)(nil)))

	e := refused[Sex](t, classHex("com.demo.Sex", "name")+str("OTHER"))
	assert.Equal(t, `the enum com.demo.Sex has no constant "OTHER" (in the Go type hessian2.Sex)`, e.Reason)
	refused[any](t, classHex("com.demo.Sex", "name")+str("OTHER"))
	refused[Sex](t, "91")
	refused[Sex](t, classHex("com.demo.Sex", "name", "more")+str("MAN")+"91")
}

// B141: all kinds of collections.
func TestB141Collections(t *testing.T) {
	for _, h := range []string{
		"72" + str("java.util.HashSet") + "9192", "72" + str("java.util.Arrays$ArrayList") + "9192", "7a9192", "72" + str("com.x.Ring") + "9192",
		classHex("java.util.Collections$UnmodifiableList", "c", "list") + "7a9192" + "5191",
		classHex("java.util.Collections$UnmodifiableSet", "c") + "72" + str("java.util.HashSet") + "9192",
		"56" + str("java.util.ArrayList") + "929192", "58929192",
	} {
		assert.Equal(t, []any{int32(1), int32(2)}, decoded[any](t, h))
		assert.Equal(t, []int{1, 2}, decoded[[]int](t, h))
	}
	inner := "48016b915a"
	for _, h := range []string{
		"4d" + str("java.util.TreeMap") + "016b915a",
		classHex("java.util.Collections$UnmodifiableMap", "m") + inner,
		inner,
	} {
		assert.Equal(t, map[string]any{"k": int32(1)}, decoded[any](t, h))
		assert.Equal(t, map[string]int{"k": 1}, decoded[map[string]int](t, h))
	}
}

func TestObjectsIntoMapsAndBack(t *testing.T) {
	h := classHex("com.x.Point", "x", "y") + "9192"
	assert.Equal(t, map[string]int{"x": 1, "y": 2}, decoded[map[string]int](t, h))
	assert.Equal(t, map[string]any{"class": "com.x.Point", "x": int32(1), "y": int32(2)}, decoded[map[string]any](t, h))
	assert.Equal(t, map[any]any{"class": "com.x.Point", "x": int32(1), "y": int32(2)}, decoded[map[any]any](t, h))
	refused[map[int]int](t, h)
	refused[[]int](t, h)
	refused[int](t, h)
	refused[string](t, h)
	refused[time.Time](t, h)
	refused[big.Decimal](t, h)
	assert.Equal(t, &Order{ID: 5, Note: "n"}, decoded[*Order](t, "48"+str("id")+"95"+str("note")+str("n")+str("class")+str("com.x.Order")+"5a"))
	refused[*Order](t, "4891915a")
	refused[time.Time](t, "48 5a")
	refused[*big.Integer](t, "48 5a")
	register(t)
	assert.Equal(t, &Order{ID: 5}, decoded[any](t, "4d"+str("com.x.Order")+str("id")+"955a"), "a POJO in the form of a map")
}

func TestRegisteredTypesInInterfaces(t *testing.T) {
	register(t)
	npe := classHex("java.lang.NullPointerException", "detailMessage", "cause") + str("npe") + "5190"
	got := decoded[error](t, npe)
	assert.Equal(t, "npe", got.(*java_exception.NullPointerException).DetailMessage)
	assert.Nil(t, got.(*java_exception.NullPointerException).Cause, "a cause that is the exception itself is none (B150)")
	assert.IsType(t, (*Order)(nil), decoded[hessian.POJO](t, classHex("com.x.Order", "id")+"91"))
	assert.Nil(t, decoded[error](t, "4e"))
	// An exception that nobody registered can still be a cause.
	cause := decoded[*java_exception.RuntimeException](t, classHex("java.lang.RuntimeException", "cause")+
		classHexAs(1, "com.x.Odd", "detailMessage", "cause", "stackTrace")+str("odd")+"5191"+"4e").Cause
	assert.EqualError(t, cause, "com.x.Odd: odd")
}

func TestNumbersBeyondTheLibrarysTypes(t *testing.T) {
	digits := "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
	h := classHex("java.math.BigDecimal", "value") + encoded(t, digits)
	assert.Equal(t, digits, decoded[any](t, h), "the text, when there is no room for it")
	assert.Equal(t, digits, decoded[string](t, h))
	assert.Contains(t, refused[*big.Decimal](t, h).Reason, "take a string")
	h = classHex("java.math.BigDecimal", "value") + encoded(t, "1E+3")
	assert.Equal(t, "1E+3", decoded[*big.Decimal](t, h).Value)
}
