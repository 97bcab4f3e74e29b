package hessian2

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// Java says "the same object" by its number; what it was read into decides how.
func TestReferences(t *testing.T) {
	register(t)
	node := classHex("com.x.Node", "name", "next", "any")
	inner := classHexAs(1, "com.x.Node", "name", "next", "any")
	t.Run("a cycle", func(t *testing.T) {
		n := decoded[*Node](t, node+"0161"+"5190"+"5190")
		assert.Same(t, n, n.Next)
		assert.Same(t, n, n.Any)
	})
	t.Run("by value", func(t *testing.T) {
		got := decoded[struct {
			A, B Node
			C    *Node
		}](t, classHex("com.x.Three", "a", "b", "c")+inner+"0161"+"4e4e"+"5191"+"5191")
		assert.Equal(t, Node{Name: "a"}, got.B)
		assert.Equal(t, &Node{Name: "a"}, got.C)
	})
	t.Run("a value in itself", func(t *testing.T) {
		_, err := decode[map[string]Node](t, "48"+"016b"+node+"0161"+"4e"+"48"+"016c"+"5191"+"5a"+"5a")
		assert.NoError(t, err, "any holds the pointer")
		type self struct{ Kids []struct{ Kids []any } }
		_, err = decode[self](t, classHex("com.x.Self", "kids")+"79"+"5190")
		assert.NoError(t, err, "another type is read again")
	})
	t.Run("of another type", func(t *testing.T) {
		got := decoded[struct {
			L  []int32
			S  []string
			M  map[string]int
			O  struct{ K int64 }
			An any
		}](t, classHex("com.x.Many", "l", "m", "o", "an")+"7a9192"+"48"+str("k")+"95"+"5a"+"5192"+"5191")
		assert.Equal(t, []int32{1, 2}, got.L)
		assert.Equal(t, map[string]int{"k": 5}, got.M)
		assert.Equal(t, int64(5), got.O.K, "the map is read again as a struct")
		assert.Equal(t, []int32{1, 2}, got.An, "what is there is taken")
	})
	t.Run("types and classes inside", func(t *testing.T) {
		// A skipped field defines a class and a type that later values use by number.
		h := classHex("com.x.Top", "unknown", "again", "list") + "72" + str("[com.x.Node") + inner + "0161" + "4e4e" + "61" + "0162" + "5192" + "4e" +
			"5191" + "7290" + "4e4e"
		type top struct {
			Again []*Node
			List  []*Node
		}
		got := decoded[*top](t, h)
		require.Len(t, got.Again, 2)
		assert.Same(t, got.Again[0], got.Again[1].Next)
		assert.Equal(t, []*Node{nil, nil}, got.List)
	})
	t.Run("a cause that is none of an exception", func(t *testing.T) {
		type event struct{ Cause *event }
		e := decoded[*event](t, classHex("com.x.Event", "cause")+"5190")
		assert.Same(t, e, e.Cause)
		m := decoded[map[string]any](t, classHex("com.x.Event", "cause")+"5190")
		assert.NotNil(t, m["cause"])
	})
	t.Run("natural, to what was skipped", func(t *testing.T) {
		got := decoded[struct{ An any }](t, classHex("com.x.Two", "unknown", "an")+"7a9192"+"5191")
		assert.Equal(t, []any{int32(1), int32(2)}, got.An)
		refused[struct{ An any }](t, classHex("com.x.Two", "unknown", "an")+"79"+classHexAs(1, "com.demo.Sex", "name")+str("OTHER")+"5191")
		refused[struct{ An any }](t, classHex("com.x.Two", "unknown", "an")+"79"+"91"+"5195")
	})
	t.Run("too often", func(t *testing.T) {
		// Each field reads the list again, for its type is another one.
		list := "58" + encodedInt(1000) + strings.Repeat("91", 1000)
		fields, names, refs := []reflect.StructField{}, []string{"list"}, ""
		for i, typ := 0, reflect.TypeFor[int](); i < 30; i, typ = i+1, reflect.PointerTo(typ) {
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.SliceOf(typ)})
			names = append(names, fmt.Sprintf("f%d", i))
			refs += "5191"
		}
		target := reflect.New(reflect.StructOf(fields))
		_, err := DecodeResult(unhex(t, "91"+classHex("com.x.Rows", names...)+list+refs), &protocol.Result{Target: target.Interface()})
		assert.ErrorContains(t, err, "too many references to values of other types")
	})
}
