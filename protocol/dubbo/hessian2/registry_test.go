package hessian2

import (
	"reflect"
	"sync"
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/apache/dubbo-go-hessian2/java_exception"
	big "github.com/dubbogo/gost/math/big"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	first  struct{ A int32 }
	second struct{ A int32 }
	// onlyLibrary is registered with dubbo-go-hessian2 alone.
	onlyLibrary struct{ Name string }
	mapped      struct{ Name string }
	unnamed     struct{ A int }
	badName     struct{}
	noField     struct{ C chan int }
	twice       struct {
		A int `hessian:"x"`
		B int `hessian:"x"`
	}
	notAStruct map[string]int
	moody      hessian.JavaEnum
)

func (first) JavaClassName() string       { return "com.x.One" }
func (second) JavaClassName() string      { return "com.x.One" }
func (onlyLibrary) JavaClassName() string { return "com.x.OnlyLibrary" }
func (badName) JavaClassName() string     { return "not a class" }
func (noField) JavaClassName() string     { return "com.x.NoField" }
func (twice) JavaClassName() string       { return "com.x.Twice" }
func (notAStruct) JavaClassName() string  { return "com.x.NotAStruct" }
func (*moody) JavaClassName() string      { return "com.x.Moody" }
func (m *moody) String() string           { return []string{"GOOD", "BAD"}[*m] }
func (*moody) EnumValue(s string) hessian.JavaEnum {
	if s == "PANIC" {
		panic("in a bad mood")
	}
	return hessian.JavaEnum(map[string]int{"GOOD": 0, "BAD": 1, "WORSE": 2}[s])
}

func TestRegister(t *testing.T) {
	require.NoError(t, Register(&first{}))
	require.NoError(t, Register(first{}, &first{}), "again")
	assert.EqualError(t, Register(&User{}, second{}), "hessian2: register example 1 (hessian2.second): the Java class com.x.One is registered for hessian2.first")
	got, ok := registered.typeOf("com.x.One")
	assert.True(t, ok)
	assert.Equal(t, reflect.TypeFor[first](), got, "the first one stays")

	for want, example := range map[string]any{
		"(<nil>): nil has no type": nil,
		"(hessian2.unnamed): hessian2.unnamed has no method JavaClassName() string":         unnamed{},
		"(int): int has no method JavaClassName() string":                                   7,
		`JavaClassName of hessian2.badName is "not a class", which is no Java class name`:   badName{},
		"hessian2.noField.C: a chan int cannot be sent; tag it `hessian:\"-\"`":             noField{},
		`hessian2.twice: fields A and B have the same Java name "x"`:                        twice{},
		"hessian2.notAStruct is neither a struct nor a hessian.POJOEnum of an integer type": notAStruct{},
		"the Java class java.lang.NullPointerException is registered":                       npe{},
	} {
		err := Register(example)
		if assert.Error(t, err, want) {
			assert.Contains(t, err.Error(), want)
		}
	}
}

type npe struct{ DetailMessage string }

func (npe) JavaClassName() string { return "java.lang.NullPointerException" }

// One Go type has one Java class.
func TestOneTypeOneClass(t *testing.T) {
	hessian.RegisterPOJOMapping("com.x.Mapped", &mapped{})
	name, err := registered.nameOf(reflect.TypeFor[mapped]())
	require.NoError(t, err)
	assert.Equal(t, "com.x.Mapped", name)
	assert.Equal(t, classHex("com.x.Mapped", "name")+"0178", encoded(t, &mapped{"x"}))
	assert.Equal(t, &mapped{"x"}, decoded[any](t, classHex("com.x.Mapped", "name")+"0178"))

	r := new(registry)
	r.note("com.x.First", reflect.TypeFor[first]())
	assert.EqualError(t, r.register(first{}), "the type is registered as the Java class com.x.First, so it cannot be com.x.One too")
}

// What others registered with the library is known, now or later.
func TestTheLibrarysRegistrations(t *testing.T) {
	h := classHex("com.x.OnlyLibrary", "name") + "0178"
	assert.IsType(t, map[string]any{}, decoded[any](t, h))
	hessian.RegisterPOJO(&onlyLibrary{})
	assert.Equal(t, &onlyLibrary{"x"}, decoded[any](t, h))
	require.NoError(t, Register(onlyLibrary{}))

	for name, want := range map[string]any{
		"java.lang.RuntimeException": java_exception.RuntimeException{}, "java.math.BigDecimal": big.Decimal{}, "java.math.BigInteger": big.Integer{},
	} {
		got, ok := registered.typeOf(name)
		assert.True(t, ok)
		assert.Equal(t, reflect.TypeOf(want), got)
	}
	for _, name := range []string{"java.lang.Integer", "com.x.Nobody", "", "[int"} {
		_, ok := registered.typeOf(name)
		assert.False(t, ok, name)
	}
	require.NoError(t, Register(Woman))
	v, err := hessian.NewDecoder(unhex(t, encoded(t, Woman))).Decode()
	require.NoError(t, err)
	assert.Equal(t, ptr(Woman), v, "registered with the library too")
}

type (
	taken struct{ A int }
	taker struct{ A int }
)

func (taken) JavaClassName() string { return "com.x.Taken" }
func (taker) JavaClassName() string { return "com.x.Taken" }

func TestTheLibrarysRegistrationStays(t *testing.T) {
	hessian.RegisterPOJO(&taken{})
	assert.ErrorContains(t, Register(taker{}), "the Java class com.x.Taken is registered with dubbo-go-hessian2 for hessian2.taken")
	assert.NoError(t, Register(taken{}))
	assert.ErrorContains(t, Register(taker{}), "the Java class com.x.Taken is registered for hessian2.taken")
}

// Methods of the user's types that panic make errors.
func TestUserCodeThatPanics(t *testing.T) {
	require.NoError(t, Register(ptr(moody(0))))
	head := classHex("com.x.Moody", "name")
	assert.Equal(t, moody(1), decoded[moody](t, head+str("BAD")))
	assert.Equal(t, moody(1), decoded[any](t, head+str("BAD")))
	assert.Equal(t, "a Go type panics: in a bad mood", refused[moody](t, head+str("PANIC")).Reason)
	assert.Contains(t, refused[any](t, head+str("WORSE")).Reason, "a Go type panics: runtime error: index out of range")
	_, err := DecodeValues(unhex(t, head+str("PANIC")))
	assert.ErrorContains(t, err, "panics")
	_, err = AppendArguments(nil, []any{1, moody(7)})
	assert.EqualError(t, err, "hessian2: argument 1 (hessian2.moody): a Go type panics: runtime error: index out of range [7] with length 2")
}

type fancy struct{ Value string }

func (*fancy) JavaClassName() string { return "com.x.Fancy" }

type fancySerializer struct{}

func (fancySerializer) EncObject(e *hessian.Encoder, p hessian.POJO) error { return nil }
func (fancySerializer) DecObject(*hessian.Decoder, reflect.Type, *hessian.ClassInfo) (any, error) {
	return nil, nil
}

func TestSerializersOfTheUsersAreRefused(t *testing.T) {
	hessian.SetSerializer("com.x.Fancy", fancySerializer{})
	_, err := Append(nil, &fancy{"x"})
	assert.ErrorContains(t, err, "com.x.Fancy has a serializer of its own")
}

// ring is a Java collection with a Go type.
type ring struct{ elements []any }

func (*ring) JavaClassName() string { return "com.x.RingList" }
func (r *ring) Get() []any          { return r.elements }
func (r *ring) Set(e []any)         { r.elements = e }

func TestCollectionsWithAGoType(t *testing.T) {
	hessian.SetCollectionSerialize(&ring{})
	sent := &ring{[]any{"a", int32(1)}}
	assert.Equal(t, sent, decoded[any](t, encoded(t, sent)))
	assert.Equal(t, *sent, decoded[ring](t, encoded(t, []any{"a", int32(1)})))
	assert.Equal(t, sent, decoded[*ring](t, "57"+"0161"+"91"+"5a"))
	got := roundTrip(t, []any{sent, sent})[0].([]any)
	assert.Same(t, got[0], got[1])
	assert.Equal(t, sent, decoded[*ring](t, encoded(t, sent)))
	assert.Equal(t, ring{[]any{int32(1), int32(2)}}, decoded[ring](t, "72"+str("[int")+"9192"))
	refused[ring](t, "48"+"5a")
	refused[ring](t, "79"+"65")
	_, err := Append(nil, &ring{[]any{make(chan int)}})
	assert.ErrorContains(t, err, "[0] (chan int)")
}

func TestRegisterIsSafeForConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				assert.NoError(t, Register(&User{}, &Order{}, Woman))
				_, err := DecodeValues(unhex(t, classHex("com.x.Order", "id")+"91"))
				assert.NoError(t, err)
				_, err = Append(nil, []any{&User{}, &Order{}, Woman})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
}

func TestEmbeddedFields(t *testing.T) {
	type Base struct {
		ID   int64 `hessian:"id"`
		Name string
	}
	type Middle struct {
		Base
		Level int32
	}
	type Top struct {
		Middle
		Name    string // hides the one of Base
		Extra   string `hessian:"-"`
		Renamed string `hessian:"other"`
	}
	p, err := planOf(reflect.TypeFor[Top]())
	require.NoError(t, err)
	assert.Equal(t, []string{"name", "other", "level", "id"}, p.names)
	got := decoded[Top](t, classHex("com.x.Top", "id", "name", "Level", "renamed", "extra")+"95"+str("n")+"97"+str("r")+str("e"))
	assert.Equal(t, int64(5), got.ID)
	assert.Equal(t, "n", got.Name)
	assert.Empty(t, got.Base.Name)
	assert.Equal(t, int32(7), got.Level, "the Go name is taken too")
	assert.Equal(t, "r", got.Renamed)
	assert.Empty(t, got.Extra)
}
