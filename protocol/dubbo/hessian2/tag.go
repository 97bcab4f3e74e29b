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

	tagListOpen        = 0x55 // type, elements, 'Z'
	tagList            = 'V'  // type, length, elements
	tagListUntypedOpen = 0x57 // elements, 'Z'
	tagListUntyped     = 0x58 // length, elements
	tagListShort       = 0x70 // 70-77: length itself, type, elements
	tagListUntypedShrt = 0x78 // 78-7f: length itself, elements

	tagMap        = 'M' // type, pairs, 'Z'
	tagMapUntyped = 'H' // pairs, 'Z'
	tagEnd        = 'Z'

	tagClass       = 'C'  // name, field count, field names; an object follows
	tagObject      = 'O'  // class index
	tagObjectShort = 0x60 // 60-6f: the class index itself
	tagReference   = 'Q'  // index of a list, map or object
)
