package suite

import (
	"math"
	"strings"
	"time"

	big "github.com/dubbogo/gost/math/big"
)

// scalarSteps echo every primitive and boxed type and the plain values of the JDK.
func scalarSteps() []step {
	return []step{
		echoes("echoBoolean(boolean)", true, true),
		echoes("echoByte(byte)", int8(-128), int8(-128)),
		echoes("echoShort(short)", int16(-32768), int16(-32768)),
		echoes("echoChar(char)", "字", "字"),
		echoes("echoInt(int)", int32(math.MinInt32), int32(math.MinInt32)),
		echoes("echoInt(int)", int32(47), 47), // widened
		echoes("echoLong(long)", int64(math.MinInt64), int64(math.MinInt64)),
		echoes("echoLong(long)", 42, int64(42)), // int in range
		echoes("echoFloat(float)", float32(99.8), float32(99.8)),
		echoes("echoFloat(float)", float32(0.1), float32(0.1)),
		echoes("echoDouble(double)", 0.1, 0.1),
		echoes("echoDouble(double)", math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64),
		echoes("echoDouble(double)", math.Inf(-1), math.Inf(-1)),
		echoes("echoDouble(double)", math.NaN(), math.NaN()),
		echoes("echoBoxedBoolean(java.lang.Boolean)", ptr(true), ptr(true)),
		echoes[*bool]("echoBoxedBoolean(java.lang.Boolean)", nil, nil),
		echoes("echoBoxedByte(java.lang.Byte)", ptr(int8(5)), ptr(int8(5))),
		echoes[*int8]("echoBoxedByte(java.lang.Byte)", nil, nil),
		echoes("echoBoxedShort(java.lang.Short)", ptr(int16(5)), ptr(int16(5))),
		echoes("echoBoxedChar(java.lang.Character)", "x", "x"),
		echoes[*string]("echoBoxedChar(java.lang.Character)", nil, nil),
		echoes("echoBoxedInt(java.lang.Integer)", ptr(int32(5)), ptr(int32(5))),
		echoes[*int32]("echoBoxedInt(java.lang.Integer)", nil, nil),
		echoes("echoBoxedLong(java.lang.Long)", ptr(int64(5)), ptr(int64(5))),
		echoes[*int64]("echoBoxedLong(java.lang.Long)", nil, nil),
		echoes("echoBoxedFloat(java.lang.Float)", ptr(float32(1.5)), ptr(float32(1.5))),
		echoes("echoBoxedDouble(java.lang.Double)", ptr(-0.001), ptr(-0.001)),
		echoes[*float64]("echoBoxedDouble(java.lang.Double)", nil, nil),
		echoes("echoString(java.lang.String)", "Grüße 🚀", "Grüße 🚀"),
		echoes("echoString(java.lang.String)", "", ""),
		echoes[*string]("echoString(java.lang.String)", nil, nil),
		echoes("echoString(java.lang.String)", strings.Repeat("ab🚀", 50_000), strings.Repeat("ab🚀", 50_000)),
		echoes("echoBigDecimal(java.math.BigDecimal)", decimal("12345.6789"), decimal("12345.6789")),
		echoes[*big.Decimal]("echoBigDecimal(java.math.BigDecimal)", nil, nil),
		echoes("echoBigInteger(java.math.BigInteger)", integer("-123456789012345678901234567890"), integer("-123456789012345678901234567890")),
		echoes("echoDate(java.util.Date)", birthday, birthday),
		echoes("echoDate(java.util.Date)", early, early),
		echoes("echoDate(java.util.Date)", birthday.In(time.FixedZone("east", 8*3600)).Add(time.Second), birthday.Add(time.Second)),
		echoes("echoDate(java.util.Date)", time.Time{}, time.Time{}),
		echoes("echoLocalDateTime(java.time.LocalDateTime)", leapDay, leapDay),
		echoes[any]("echoObject(java.lang.Object)", "text", "text"),
		echoes[any]("echoObject(java.lang.Object)", int64(1), int64(1)),
		echoes[any]("echoObject(java.lang.Object)", int32(1), int32(1)),
		echoes[any]("echoObject(java.lang.Object)", []any{"a", int32(1), nil}, []any{"a", int32(1), nil}),
		echoes[any]("echoObject(java.lang.Object)", nil, nil),
	}
}

func arraySteps() []step {
	return []step{
		echoes("echoBytes(byte[])", []byte{0, 1, 255}, []byte{0, 1, 255}),
		echoes("echoBytes(byte[])", make([]byte, 100_000), make([]byte, 100_000)),
		echoes[[]byte]("echoBytes(byte[])", nil, nil),
		echoes("echoBooleans(boolean[])", []bool{true, false}, []bool{true, false}),
		echoes("echoShorts(short[])", []int16{-1, 2}, []int16{-1, 2}),
		echoes("echoChars(char[])", "ab字", "ab字"),
		echoes("echoInts(int[])", []int32{1, -2, math.MaxInt32}, []int32{1, -2, math.MaxInt32}),
		echoes("echoInts(int[])", []int32{}, []int32{}),
		echoes("echoLongs(long[])", []int64{1, math.MinInt64}, []int64{1, math.MinInt64}),
		echoes("echoFloats(float[])", []float32{0.5, 99.75}, []float32{0.5, 99.75}),
		// Java writes the elements of a float[] as the nearest double, Go as the shortest one.
		ends[[]float32]("echoFloats(float[])", []expectation{is(Value, "[0.1, 99.8]")}, []float32{0.1, 99.8}),
		echoes("echoDoubles(double[])", []float64{0.1, 1e300}, []float64{0.1, 1e300}),
		echoes("echoStrings(java.lang.String[])", []string{"a", "", "ß"}, []string{"a", "", "ß"}),
		echoes("echoBoxedInts(java.lang.Integer[])", []any{int32(1), nil}, []*int32{ptr(int32(1)), nil}),
		echoes("echoMatrix(int[][])", []any{[]int32{1, 2}, []int32{3}}, [][]int32{{1, 2}, {3}}),
		echoes("echoItemArray(org.gofer.interop.Item[])", items(1, 3), items(1, 3)),
	}
}
