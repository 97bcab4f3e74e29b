package hessian2

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fromLibrary is what dubbo-go-hessian2 writes for a value.
func fromLibrary(t require.TestingT, v any) string {
	e := hessian.NewEncoder()
	require.NoError(t, e.Encode(v))
	return hex.EncodeToString(e.Buffer())
}

func back[T any](t require.TestingT, b []byte) T {
	values, err := DecodeValues(b)
	require.NoError(t, err)
	require.Len(t, values, 1)
	return values[0].(T)
}

func TestScalarsComeBackAndAreTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.Int32().Draw(t, "int")
		b := AppendInt32(nil, i)
		assert.Equal(t, i, back[int32](t, b))
		assert.Equal(t, fromLibrary(t, i), hex.EncodeToString(b))

		l := rapid.Int64().Draw(t, "long")
		b = AppendInt64(nil, l)
		assert.Equal(t, l, back[int64](t, b))
		assert.Equal(t, fromLibrary(t, l), hex.EncodeToString(b))

		d := rapid.Float64().Draw(t, "double")
		assert.Equal(t, d, back[float64](t, AppendFloat64(nil, d)))

		f := rapid.Float32().Draw(t, "float")
		b = AppendFloat32(nil, f)
		assert.Equal(t, f, float32(back[float64](t, b)))

		s := rapid.String().Draw(t, "string")
		b = AppendString(nil, s)
		assert.Equal(t, s, back[string](t, b))
		assert.Equal(t, fromLibrary(t, s), hex.EncodeToString(b))

		x := rapid.SliceOf(rapid.Byte()).Draw(t, "binary")
		b = AppendBytes(nil, x)
		assert.Equal(t, x, back[[]byte](t, b))
		assert.Equal(t, fromLibrary(t, x), hex.EncodeToString(b))
	})
}

// B143: neither kind of float changes on the way.
func TestB143FloatsAreExact(t *testing.T) {
	assert.Equal(t, "5f000185d8", encoded(t, float32(99.8)), "as the double 99.8")
	for _, f := range []float32{99.8, 0.1, -0.1, 1e-45, 3.4028235e38, 16777216, -129} {
		assert.Equal(t, f, decoded[float32](t, encoded(t, f)))
		assert.Equal(t, f, *decoded[*float32](t, encoded(t, &f)))
	}
	for h, want := range map[string]float64{
		"5fffffff9c": -0.1, "5f00003039": 12.345, "5d03": 3, "5eff7f": -129, "447fefffffffffffff": math.MaxFloat64,
		"440000000000000001": math.SmallestNonzeroFloat64, "447ff0000000000000": math.Inf(1), "44fff0000000000000": math.Inf(-1),
	} {
		assert.Equal(t, want, decoded[float64](t, h))
		assert.Equal(t, h, encoded(t, want))
	}
	assert.True(t, math.IsNaN(decoded[float64](t, encoded(t, math.NaN()))))
	assert.True(t, math.IsNaN(float64(decoded[float32](t, encoded(t, float32(math.NaN()))))))
	assert.Equal(t, 32768.0, decoded[float64](t, encoded(t, 32768.0)))
	assert.Equal(t, float32(math.Inf(-1)), decoded[float32](t, encoded(t, float32(math.Inf(-1)))))
}

// The thousandths form is read as Java computes it, for every value that Java writes so.
func TestThousandthsAreReadAsJavaComputesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int32().Draw(t, "mills")
		v := 0.001 * float64(m)
		assert.Equal(t, v, back[float64](t, AppendFloat64(nil, v)))
	})
}

func TestLongStringsAreCutAsInJava(t *testing.T) {
	for _, n := range []int{31, 32, 1023, 1024, 0x7fff, 0x8000, 0x8001, 0xffff, 0x10000, 2_000_000} {
		s := strings.Repeat("a", n)
		assert.Equal(t, s, back[string](t, AppendString(nil, s)), "%d units", n)
	}
	at := func(units int) string { return strings.Repeat("ä", units) + "😀" + strings.Repeat("z", 10) }
	for _, n := range []int{0x7ffd, 0x7ffe, 0x7fff, 0x8000} {
		s := at(n)
		b := AppendString(nil, s)
		assert.Equal(t, s, back[string](t, b), "a pair at %d", n)
		assert.Equal(t, byte('R'), b[0])
	}
	b := AppendString(nil, at(0x7fff))
	assert.Equal(t, "527fff", hex.EncodeToString(b[:3]), "the pair is not cut")
}

func TestInvalidUTF8BecomesTheReplacementCharacter(t *testing.T) {
	assert.Equal(t, "a\uFFFD\uFFFDb", back[string](t, AppendString(nil, "a\xff\xfeb")))
}

// B129: halves of surrogate pairs never eat their neighbours.
func TestB129Surrogates(t *testing.T) {
	for h, want := range map[string]string{
		"02eda0beedb4a3":                  "🤣",
		"0561eda0bd626364":                "a\uFFFDbcd",
		"0361eda0bd62":                    "a\uFFFDb",
		"01eda0bd":                        "\uFFFD",
		"02edb4a361":                      "\uFFFDa",
		"03eda0beeda0beedb4a3":            "\uFFFD🤣",
		"520001eda0be01edb4a3":            "🤣",       // a pair cut by a chunk
		"520001eda0be0161":                "\uFFFDa", // a half at the end of a chunk
		"5200035a5a5a520000520000" + "00": "ZZZ",
	} {
		assert.Equal(t, want, decoded[string](t, h), h)
	}
	assert.Equal(t, "02eda0beedb4a3", encoded(t, "🤣"))
	for _, h := range []string{"0180", "01f0", "01e4b8", "01c3", "02e4b8ad", "02c34161", "520001614e", "31ff61"} {
		refused[string](t, h)
		refused[any](t, h)
	}
}

func TestUTF16CountsAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		n, ascii := utf16Units(s)
		assert.Equal(t, len(utf16.Encode([]rune(s))), n)
		assert.Equal(t, asciiRun([]byte(s), len(s)) == len(s), ascii)
	})
}

func TestBinariesInChunks(t *testing.T) {
	for _, n := range []int{0, 15, 16, 1023, 1024, 0x8000, 0x8001, 0x20000} {
		x := make([]byte, n)
		for i := range x {
			x[i] = byte(i)
		}
		assert.Equal(t, x, back[[]byte](t, AppendBytes(nil, x)), "%d bytes", n)
		var lib []byte
		require.NoError(t, func() error {
			v, err := hessian.NewDecoder(AppendBytes(nil, x)).Decode()
			lib, _ = v.([]byte)
			return err
		}())
		assert.Equal(t, x, lib, "read by the library")
	}
	// B147: the chunk tag of newer hessian-lite.
	assert.Equal(t, []byte{1, 2, 3, 4, 5, 6}, decoded[[]byte](t, "4100030102032304 0506"))
	refused[[]byte](t, "410001014e")
}

// B139: instants are equal whatever the zones, and the zero time is null.
func TestB139Dates(t *testing.T) {
	assert.Equal(t, "4e", encoded(t, time.Time{}))
	assert.True(t, decoded[time.Time](t, "4e").IsZero())
	assert.Nil(t, decoded[*time.Time](t, "4e"))
	assert.Equal(t, time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), decoded[time.Time](t, "4afffffffffffffc18"))
	assert.Equal(t, time.Unix(60, 0).UTC(), decoded[time.Time](t, "4b00000001"))
	shanghai := time.FixedZone("Asia/Shanghai", 8*3600)
	at := time.Date(2024, 2, 29, 12, 34, 56, 789e6, shanghai)
	assert.True(t, at.Equal(decoded[time.Time](t, encoded(t, at))))
	assert.True(t, at.Equal(*decoded[*time.Time](t, encoded(t, &at))))
	assert.Equal(t, time.UTC, decoded[time.Time](t, encoded(t, at)).Location())
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-1e14, 1e15).Draw(t, "ms"))
		assert.True(t, at.Equal(back[time.Time](t, AppendTime(nil, at))))
		minute := at.Truncate(time.Minute)
		assert.True(t, minute.Equal(back[time.Time](t, AppendTime(nil, minute))))
	})
}
