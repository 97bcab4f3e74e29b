package protocol_test

import (
	"testing"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// What a call pays for being counted.
func BenchmarkStatus(b *testing.B) {
	failed := new(protocol.Status)
	failed.EndWith(protocol.EndedWithException, time.Now(), time.Millisecond)
	for name, s := range map[string]*protocol.Status{"values": new(protocol.Status), "values after an exception": failed} {
		b.Run(name, func(b *testing.B) {
			begun := time.Now()
			b.ReportAllocs()
			for b.Loop() {
				s.Begin(0)
				s.Entered(begun)
				s.Left(begun)
				s.EndWith(protocol.EndedWithValue, begun, time.Millisecond)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		var s protocol.Status
		begun := time.Now()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				s.Begin(0)
				s.Entered(begun)
				s.Left(begun)
				s.EndWith(protocol.EndedWithValue, begun, time.Millisecond)
			}
		})
	})
}
