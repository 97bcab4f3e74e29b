package hessian2

import (
	"bytes"
	"encoding/hex"
	"runtime"
	"strings"
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// The defects of dubbo-go-hessian2 v1.13.2 when it decodes, each reproduced here.

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// D1: decoding leaves nothing behind that the next message pays for.
func TestD1NothingGrows(t *testing.T) {
	body := unhex(t, "91"+"7a 9192")
	decodeOne := func() {
		var r protocol.Result
		_, err := DecodeResult(body, &r)
		require.NoError(t, err)
	}
	first := allocated(func() {
		for range 1000 {
			decodeOne()
		}
	})
	for range 20_000 {
		decodeOne()
	}
	last := allocated(func() {
		for range 1000 {
			decodeOne()
		}
	})
	assert.InEpsilon(t, first, last, 0.2)
}

// D2: nesting without end is an error, not the end of the process.
func TestD2DeepNesting(t *testing.T) {
	const n = 2 << 20
	register(t)
	inner := map[string]string{
		"lists":             "79",
		"typed lists":       "71" + str("java.util.ArrayList"),
		"lists by a number": "7190",
		"endless lists":     "57",
		"maps":              "4891",
		"map keys":          "48",
		"objects":           "60",
	}
	for name, h := range inner {
		for _, head := range []string{"", classHex("com.x.Deep", "next"), classHex("com.x.Node", "next")} {
			body := append(unhex(t, "91"+head), bytes.Repeat(unhex(t, h), n/(len(h)/2))...)
			for _, target := range []any{nil, new(any), new([]any), new(*Node), new(map[string]any), new(struct{})} {
				_, err := DecodeResult(body, &protocol.Result{Target: target})
				var e *DecodeError
				require.ErrorAs(t, err, &e, name)
				require.LessOrEqual(t, len(e.Error()), 2000)
			}
			body[0] = 0x90 // as an exception
			_, err := DecodeResult(body, &protocol.Result{})
			require.Error(t, err)
			body[0] = 0x92 // in the attachments
			body = append([]byte{0x95}, body[1:]...)
			for _, wanted := range []bool{true, false} {
				_, err := DecodeResult(body, &protocol.Result{WantAttachments: wanted})
				require.Error(t, err)
			}
		}
	}
	e := refused[any](t, strings.Repeat("79", 3000))
	assert.Equal(t, "values nest deeper than 1024 levels", e.Reason)
	assert.Len(t, decoded[[]any](t, strings.Repeat("79", 1000)+"4e"), 1, "a thousand levels are fine")
	_, err := DecodeResult(append([]byte{0x91}, bytes.Repeat(unhex(t, classHex("com.x.C")[:18]), 100_000)...), &protocol.Result{})
	assert.Error(t, err, "class definitions without an object")
}

// D3: lengths are believed only as far as there are bytes.
func TestD3Lengths(t *testing.T) {
	huge := []string{
		"58497fffffff", "56" + str("[int") + "497fffffff", "55" + str("[int") + "57", "58" + "49ffffffff", "58" + "8f",
		"43" + str("com.x.C") + "497fffffff", "43" + str("com.x.C") + "49ffffffff", "43" + str("com.x.C") + "8f",
		"53ffff", "52ffff", "33ff", "42ffff", "41ffff", "37ff",
	}
	// Nested lists that all claim the whole rest of the message.
	nested := strings.Repeat("58490000ffff", 1000) + strings.Repeat("90", 66_000)
	typed := strings.Repeat("56"+str("[[[[int")+"490000ffff", 1) + strings.Repeat("56"+"90"+"490000ffff", 900) + strings.Repeat("90", 66_000)
	referring := nested + "5190"
	dimensions := "70" + str(strings.Repeat("[", 60_000)+"int")
	assert.Equal(t, []any{}, decoded[any](t, dimensions), "more dimensions than Java has")
	for _, h := range append(huge, nested, typed, referring) {
		for _, target := range []any{nil, new([]any), new([]string), new([][]*Order), new([]Order), new(struct{}), new(map[string]any)} {
			body := append([]byte{0x91}, unhex(t, h)...)
			var err error
			bytes := allocated(func() { _, err = DecodeResult(body, &protocol.Result{Target: target}) })
			assert.Error(t, err)
			assert.Less(t, bytes, uint64(64*len(body)+32<<20), "%.40s into %T", h, target)
		}
	}
}

// D4, B189: what made the library panic.
func TestD4B189NothingPanics(t *testing.T) {
	register(t)
	for name, h := range map[string]string{
		"truncated map":            "48",
		"truncated map value":      "480161",
		"negative list length":     "5849ffffffff",
		"negative reference":       "79518f",
		"reference to nothing":     "5190",
		"undefined class":          "65",
		"negative class":           "4f8f",
		"undefined type":           "7190",
		"string in an int[]":       "71045b696e740161",
		"null in a typed map key":  "4d" + str("java.util.TreeMap") + "4e",
		"registered class as list": "710b" + hex.EncodeToString([]byte("com.x.Order")) + "91",
		"no tag":                   "40",
	} {
		refused[any](t, h)
		assert.NotEmpty(t, name)
	}
	// Lists and maps as map keys decode to their text.
	assert.Equal(t, map[any]any{"[1]": int32(2)}, decoded[any](t, "487991925a"))
	assert.Equal(t, map[any]any{"{k=1}": int32(2)}, decoded[any](t, "4848016b915a925a"))
	assert.Equal(t, map[any]any{nil: int32(2)}, decoded[any](t, "484e925a"))
	assert.Equal(t, map[any]any{"{class=com.x.Color, name=RED}": int32(1)}, decoded[any](t, "48"+classHex("com.x.Color", "name")+str("RED")+"915a"))
	assert.Equal(t, map[any]int{Woman: 1}, decoded[map[any]int](t, "48"+classHex("com.demo.Sex", "name")+str("WOMAN")+"915a"))
	assert.Equal(t, map[Sex]int{Woman: 1}, decoded[map[Sex]int](t, "48"+classHex("com.demo.Sex", "name")+str("WOMAN")+"915a"))
	assert.Equal(t, map[string]int{"RED": 1}, decoded[map[string]int](t, "48"+classHex("com.x.Color", "name")+str("RED")+"915a"))
	refused[map[[1]any]int](t, "4879799191 5a")

	// A field of another type names the field.
	head := classHex("com.x.Order", "customer")
	assert.Equal(t, `hessian2: cannot decode .customer at byte 25: an int does not fit the Go type string`, refused[*Order](t, head+"91").Error())
	for field, values := range map[string]string{"quantity": "0161", "paid": "91", "price": "0161"} {
		e := refused[*Order](t, classHex("com.x.Order", field)+values)
		assert.Equal(t, "."+field, e.Path)
	}
	refused[*User](t, classHex("com.demo.User", "birthday")+str("now"))
	refused[*Node](t, classHex("com.x.Node", "next")+"91")
}

// B189 goes on: no damage to a valid answer does worse than an error.
func TestB189Mutations(t *testing.T) {
	register(t)
	var bodies [][]byte
	for _, b := range load(t).answers(t) {
		bodies = append(bodies, b)
	}
	seed := uint32(1)
	random := func(n int) int { // xorshift: the same damage every time
		seed ^= seed << 13
		seed ^= seed >> 17
		seed ^= seed << 5
		return int(seed % uint32(n))
	}
	failed := 0
	for range 10_000 {
		body := bytes.Clone(bodies[random(len(bodies))])
		for range 1 + random(3) {
			body[random(len(body))] = byte(random(256))
		}
		for _, target := range []any{nil, new(*User), new([]*User)} {
			r := protocol.Result{Target: target, WantAttachments: true}
			if _, err := DecodeResult(body, &r); err != nil {
				failed++
			}
			_ = Text(r.Value)
		}
	}
	assert.Greater(t, failed, 1000)
}

// D5, D6: null values of maps are null values.
func TestD5D6NullsInMaps(t *testing.T) {
	type box struct {
		M map[string]string
		P map[string]*int32
		A map[string]any
	}
	for _, head := range []string{"48", "4d" + str("java.util.TreeMap")} {
		m := head + "016b4e" + "016c" + "91" + "5a"
		assert.Equal(t, map[string]any{"k": nil, "l": int32(1)}, decoded[any](t, m))
		assert.Equal(t, map[string]*int32{"k": nil, "l": ptr(int32(1))}, decoded[map[string]*int32](t, m))
		assert.Equal(t, map[string]int{"k": 0, "l": 1}, decoded[map[string]int](t, m))
		all := head + "016b4e5a"
		got := decoded[*box](t, classHex("com.x.Box", "m", "p", "a")+all+all+all)
		assert.Equal(t, &box{M: map[string]string{"k": ""}, P: map[string]*int32{"k": nil}, A: map[string]any{"k": nil}}, got)
	}
	nullmap := load(t)
	for _, v := range nullmap.Values {
		if v.Name == "nullmap" {
			got := decoded[struct {
				M     map[string]string
				After int
			}](t, v.Hex["hessian-lite 3.2.13"])
			assert.Equal(t, map[string]string{"k": ""}, got.M)
			assert.Equal(t, 7, got.After)
		}
	}
}

// D7: the type of a map counts, so later types are found by their number.
func TestD7TypesOfMapsCount(t *testing.T) {
	type holder struct {
		M1, M2 map[string]string
		L1, L2 []string
	}
	found := 0
	for _, v := range load(t).Values {
		if v.Name == "holder" || v.Name == "holder2" {
			for encoder, h := range v.Hex {
				found++
				got := decoded[*holder](t, h)
				assert.Equal(t, []string{"a"}, got.L1, encoder)
				assert.Equal(t, []string{"b"}, got.L2, encoder)
				assert.Equal(t, map[string]string{"k": "v"}, got.M1, encoder)
			}
		}
	}
	assert.Equal(t, 6, found)
}

// D8, D9, B145: numbers are converted, and never wrapped or turned into letters.
func TestD8D9B145Numbers(t *testing.T) {
	assert.Equal(t, map[string]int16{"a": 1}, decoded[map[string]int16](t, "48016191 5a"))
	assert.Equal(t, []int8{1, -1}, decoded[[]int8](t, "7a918f"))
	assert.Equal(t, []int64{1, 0}, decoded[[]int64](t, "7a914e"))
	assert.Equal(t, []float64{1, 2}, decoded[[]float64](t, "7a91e2"))
	assert.Equal(t, int32(7), decoded[int32](t, "e7"), "a small long")
	assert.Equal(t, uint64(7), decoded[uint64](t, "97"))
	assert.Equal(t, []int8{1, -1}, decoded[[]int8](t, "2201ff"), "byte[]")
	assert.Equal(t, [2]byte{1, 255}, decoded[[2]byte](t, "2201ff"))

	e := refused[map[string]int16](t, "480171"+encodedInt(40000)+"5a")
	assert.Equal(t, `hessian2: cannot decode {q} at byte 4: the number 40000 does not fit the Go type int16`, e.Error())
	refused[map[string]string](t, "4802"+"6162"+encodedInt(65)+"5a")
	assert.Contains(t, refused[int32](t, "4c0000000080000000").Reason, "the number 2147483648 does not fit the Go type int32")
	assert.Contains(t, refused[uint8](t, "8f").Reason, "the number -1 does not fit the Go type uint8")
	assert.Contains(t, refused[float32](t, "49"+"01000001").Reason, "the number 16777217 does not fit the Go type float32")
	assert.Contains(t, refused[float64](t, "4c7fffffffffffffff").Reason, "does not fit")
	assert.Contains(t, refused[float32](t, encoded(t, 1e300)).Reason, "the number 1e+300 does not fit the Go type float32")
	assert.Contains(t, refused[int64](t, encoded(t, 0.5)).Reason, "a double does not fit the Go type int64")
	refused[[]int32](t, "7a914c0000000080000000")
}

func encodedInt(v int32) string { return hex.EncodeToString(AppendInt32(nil, v)) }

// D11: a Java char goes into a hessian.Rune, whole.
func TestD11Chars(t *testing.T) {
	type box struct {
		C hessian.Rune
		P *hessian.Rune
	}
	got := decoded[*box](t, classHex("com.x.Box", "c", "p")+str("中")+str("é"))
	assert.Equal(t, hessian.Rune('中'), got.C)
	assert.Equal(t, hessian.Rune('é'), *got.P)
	assert.Nil(t, decoded[*box](t, classHex("com.x.Box", "c", "p")+str("x")+"4e").P)
	refused[hessian.Rune](t, str("xy"))
	refused[hessian.Rune](t, "00")
	refused[hessian.Rune](t, "91")
}

// D12: a list without a length must have its end mark.
func TestD12EndMarks(t *testing.T) {
	for _, h := range []string{"57", "5791", "55" + str("[int") + "9192", "48", "4d" + str("java.util.TreeMap"), "57 5190"} {
		refused[any](t, h)
		refused[[]int](t, h)
		refused[struct{}](t, h)
	}
	assert.Equal(t, []any{int32(1), int32(2)}, decoded[any](t, "5791925a"))
	assert.Equal(t, []int32{1, 2}, decoded[any](t, "55"+str("[int")+"91925a"))
	assert.Equal(t, []int16{1, 2}, decoded[[]int16](t, "5791925a"))
	long := "57" + strings.Repeat("91", 500) + "5a"
	assert.Len(t, decoded[any](t, long), 500)
	assert.Len(t, decoded[[]int](t, long), 500)
}

// Chunks are skipped as they are read.
func TestSkippedChunks(t *testing.T) {
	type known struct{ A int }
	for h, good := range map[string]bool{
		"5200026161" + "0162": true, "520002c3a4c3a4" + "520000" + "00": true, "410002" + "0102" + "2103": true, "410001" + "01" + "410001" + "02" + "20": true,
		"5200026161" + "91": false, "410002" + "0102" + "91": false, "52000261": false, "4100020102": false, "5200026161": false, "410001": false, "01ff": false,
	} {
		_, err := decode[known](t, classHex("com.x.P", "zz", "a")+h+"95")
		assert.Equal(t, good, err == nil, "%s: %v", h, err)
		_, err = decode[struct{}](t, h)
		assert.Equal(t, good, err == nil, "%s: %v", h, err)
		_, err = decode[any](t, h)
		assert.Equal(t, good, err == nil, "%s: %v", h, err)
	}
}
