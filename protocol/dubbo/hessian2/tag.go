package hessian2

// The bytes that begin a value, in the notation of the Hessian 2.0 grammar.
const (
	tagNull  = 'N'
	tagTrue  = 'T'
	tagFalse = 'F'

	tagInt          = 'I'  // 4 bytes
	tagIntZero      = 0x90 // 80-bf: -16 … 47
	tagIntShortZero = 0xc8 // c0-cf: 1 more byte
	tagIntTriadZero = 0xd4 // d0-d7: 2 more bytes

	tagLong          = 'L'  // 8 bytes
	tagLongInt       = 0x59 // 4 bytes
	tagLongZero      = 0xe0 // d8-ef: -8 … 15
	tagLongShortZero = 0xf8 // f0-ff: 1 more byte
	tagLongTriadZero = 0x3c // 38-3f: 2 more bytes

	tagDouble      = 'D'  // 8 bytes
	tagDoubleZero  = 0x5b // 0.0
	tagDoubleOne   = 0x5c // 1.0
	tagDoubleByte  = 0x5d // 1 byte
	tagDoubleShort = 0x5e // 2 bytes
	tagDoubleMill  = 0x5f // 4 bytes, thousandths

	tagDate       = 0x4a // 8 bytes, milliseconds
	tagDateMinute = 0x4b // 4 bytes, minutes

	tagString       = 'S'  // 2 bytes length
	tagStringChunk  = 'R'  // 2 bytes length, more follows
	tagStringShort  = 0x30 // 30-33: 1 more byte of length
	maxStringDirect = 0x1f // 00-1f: the length itself
	maxStringShort  = 0x3ff

	tagBinary       = 'B'  // 2 bytes length
	tagBinaryChunk  = 'A'  // 2 bytes length, more follows (B147)
	tagBinaryDirect = 0x20 // 20-2f: the length itself
	tagBinaryShort  = 0x34 // 34-37: 1 more byte of length
	maxBinaryDirect = 0x0f
	maxBinaryShort  = 0x3ff

	tagListOpen         = 0x55 // type, elements, 'Z'
	tagList             = 'V'  // type, length, elements
	tagListUntypedOpen  = 0x57 // elements, 'Z'
	tagListUntyped      = 0x58 // length, elements
	tagListShort        = 0x70 // 70-77: length itself, type, elements
	tagListUntypedShort = 0x78 // 78-7f: length itself, elements

	tagMap        = 'M' // type, pairs, 'Z'
	tagMapUntyped = 'H' // pairs, 'Z'
	tagEnd        = 'Z'

	tagClass       = 'C'  // name, field count, field names; an object follows
	tagObject      = 'O'  // class index
	tagObjectShort = 0x60 // 60-6f: the class index itself
	tagReference   = 'Q'  // index of a list, map or object
)

// kind is what a byte begins.
type kind uint8

const (
	kindNone kind = iota // nothing: the byte cannot begin a value
	kindNull
	kindBool
	kindInt
	kindLong
	kindDouble
	kindDate
	kindString
	kindBinary
	kindList
	kindMap
	kindObject // an object or a class definition with an object behind it
	kindReference
)

var kindNames = [...]string{
	kindNone: "no value", kindNull: "null", kindBool: "boolean", kindInt: "int", kindLong: "long",
	kindDouble: "double", kindDate: "date", kindString: "string", kindBinary: "binary", kindList: "list",
	kindMap: "map", kindObject: "object", kindReference: "reference",
}

func (k kind) String() string { return kindNames[k] }

// a returns the kind with its article.
func (k kind) a() string {
	if k == kindInt || k == kindObject {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// kinds and sizes tell of every byte what it begins, and how many more bytes belong
// to it if that depends on the byte alone.
var kinds, sizes = buildTags()

func buildTags() (kinds [256]kind, sizes [256]uint8) {
	set := func(first, last int, k kind, size uint8) {
		for t := first; t <= last; t++ {
			kinds[t], sizes[t] = k, size
		}
	}
	one := func(t int, k kind, size uint8) { set(t, t, k, size) }
	one(tagNull, kindNull, 0)
	one(tagTrue, kindBool, 0)
	one(tagFalse, kindBool, 0)
	set(0x80, 0xbf, kindInt, 0)
	set(0xc0, 0xcf, kindInt, 1)
	set(0xd0, 0xd7, kindInt, 2)
	one(tagInt, kindInt, 4)
	set(0xd8, 0xef, kindLong, 0)
	set(0xf0, 0xff, kindLong, 1)
	set(0x38, 0x3f, kindLong, 2)
	one(tagLongInt, kindLong, 4)
	one(tagLong, kindLong, 8)
	one(tagDoubleZero, kindDouble, 0)
	one(tagDoubleOne, kindDouble, 0)
	one(tagDoubleByte, kindDouble, 1)
	one(tagDoubleShort, kindDouble, 2)
	one(tagDoubleMill, kindDouble, 4)
	one(tagDouble, kindDouble, 8)
	one(tagDate, kindDate, 8)
	one(tagDateMinute, kindDate, 4)
	set(0, maxStringDirect, kindString, 0)
	set(tagStringShort, 0x33, kindString, 1)
	one(tagString, kindString, 2)
	one(tagStringChunk, kindString, 2)
	set(tagBinaryDirect, 0x2f, kindBinary, 0)
	set(tagBinaryShort, 0x37, kindBinary, 1)
	one(tagBinary, kindBinary, 2)
	one(tagBinaryChunk, kindBinary, 2)
	set(tagListOpen, tagListUntyped, kindList, 0)
	set(tagListShort, 0x7f, kindList, 0)
	one(tagMap, kindMap, 0)
	one(tagMapUntyped, kindMap, 0)
	one(tagClass, kindObject, 0)
	one(tagObject, kindObject, 0)
	set(tagObjectShort, 0x6f, kindObject, 0)
	one(tagReference, kindReference, 0)
	return kinds, sizes
}
