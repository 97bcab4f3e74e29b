package cluster

import (
	"math/bits"
	"math/rand/v2"
)

// lots draws who is in a sample. It is at random and not every so many, which would
// meet the same provider of a rotation, or the same method of a caller, each time.
type lots struct{ rand func() uint64 }

func newLots(cfg Config) lots {
	if cfg.Balancing.Rand != nil {
		return lots{cfg.Balancing.Rand}
	}
	return lots{rand.Uint64}
}

// one reports what is true one time of so many, each time for 1 and less.
func (l lots) one(of int) bool {
	if of <= 1 {
		return true
	}
	hi, _ := bits.Mul64(l.rand(), uint64(of))
	return hi == 0
}
