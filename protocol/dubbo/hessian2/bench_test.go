package hessian2

import (
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

func sampleOrder() *Order {
	return &Order{ID: 4711, Customer: "C-1001", Product: "coffee grinder", Quantity: 3, Price: 79.9, Paid: true,
		Currency: "EUR", Note: "leave it at the door", Rank: 7, Discount: 0.05}
}

func sampleUser() *User {
	return &User{ID: "1", Name: "bob", Age: 20, Score: 5, Vip: true, Balance: 1.5, Birthday: millis,
		Tags: []string{"x", "y"}, Attrs: map[string]string{"k": "v"}, Sex: Woman}
}

func sampleOrders() []*Order {
	l := make([]*Order, 100)
	for i := range l {
		l[i] = sampleOrder()
	}
	return l
}

var samples = []struct {
	name   string
	value  any
	target func() any
}{
	{"string", "world", func() any { return new(string) }},
	{"order", sampleOrder(), func() any { return new(*Order) }},
	{"rich", sampleUser(), func() any { return new(*User) }},
	{"orders100", sampleOrders(), func() any { return new([]*Order) }},
}

// answer returns the body of an answer with the value and the usual attachment.
func answer(t testing.TB, value any) []byte {
	body, err := Append([]byte{0x94}, value)
	require.NoError(t, err)
	return append(AppendString(AppendString(append(body, 'H'), "dubbo"), "2.0.2"), 'Z')
}

func BenchmarkEncode(b *testing.B) {
	register(b)
	for _, s := range samples {
		args := []any{s.value}
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				var err error
				if buf, err = AppendArguments(buf[:0], args); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(s.name+"/library", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := hessian.NewEncoder().Encode(s.value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	register(b)
	for _, s := range samples {
		body := answer(b, s.value)
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			target := s.target()
			for b.Loop() {
				r := protocol.Result{Target: target}
				if _, err := DecodeResult(body, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(s.name+"/natural", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var r protocol.Result
				if _, err := DecodeResult(body, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(s.name+"/library", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := hessian.NewDecoderSize(body, 64)
				for range 3 {
					if _, err := d.Decode(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
