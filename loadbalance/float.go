package loadbalance

import (
	"math"
	"sync/atomic"
	"time"
)

// inMs returns a duration of so many ms, and millis how many ms a duration is.
func inMs(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// float is an atomic float32.
type float struct{ bits atomic.Uint32 }

func (f *float) load() float32   { return math.Float32frombits(f.bits.Load()) }
func (f *float) store(x float32) { f.bits.Store(math.Float32bits(x)) }

// real is an atomic float64.
type real struct{ bits atomic.Uint64 }

func (r *real) load() float64   { return math.Float64frombits(r.bits.Load()) }
func (r *real) store(x float64) { r.bits.Store(math.Float64bits(x)) }
