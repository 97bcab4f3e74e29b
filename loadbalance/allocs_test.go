//go:build !race

package loadbalance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// A pick allocates nothing: whatever the list, the warm-up, who is away and what
// the call has tried.
func TestSelectAllocatesNothing(t *testing.T) {
	for _, kind := range fleets {
		for _, n := range []int{1, 3, 100, 10_000} {
			for _, condition := range []string{"all there", "half down", "all but one down", "nobody there", "tried", "saturated"} {
				t.Run(fmt.Sprintf("%s/%d/%s", kind.name, n, condition), func(t *testing.T) {
					f := newFleet()
					for i := range n {
						kind.add(f, i)
					}
					c, inv := f.list(), f.call()
					for i, node := range f.nodes {
						node.Status(f.method.Slot).Begin(0)
						if condition == "half down" && i%2 == 1 || condition == "all but one down" && i > 0 || condition == "nobody there" {
							setState(node, protocol.Down)
						}
						if condition == "saturated" {
							node.Update(node.URL().With("actives", "1"), node.Life().Start)
						}
					}
					if condition == "tried" {
						for range 6 {
							inv.MarkTried(f.nodes[0])
						}
					}
					each(t, func(t *testing.T, s traits) {
						lb, err := s.make(loadbalance.Config{Now: f.clock.now})
						require.NoError(t, err)
						lb.Select(c, inv)
						assert.Zero(t, testing.AllocsPerRun(20, func() { lb.Select(c, inv) }))
					})
				})
			}
		}
	}
}

// The system's clock and random numbers cost no allocation either.
func TestSelectAllocatesNothingByDefault(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		f := newFleet()
		f.clock.ns.Store(time.Now().Add(time.Minute).UnixNano()) // clocks ahead: no step of the ramp meanwhile
		for range 10 {
			f.add(warm(100), 0).Update(f.nodes[0].URL(), f.clock.now())
		}
		lb, err := s.make(loadbalance.Config{})
		require.NoError(t, err)
		c, inv := f.list(), f.call()
		lb.Select(c, inv)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { lb.Select(c, inv) }))
	})
}

// Learning from an attempt costs no allocation, but for the first at a provider.
func TestObserversAllocateNothing(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		lb, err := s.make(loadbalance.Config{})
		require.NoError(t, err)
		o, ok := lb.(protocol.Observer)
		if !ok {
			return
		}
		f := newFleet().weights(100)
		n, inv := f.nodes[0], f.call()
		for _, v := range []protocol.Verdict{protocol.Succeeded, protocol.Failed, protocol.TimedOut, protocol.Neutral} {
			attempt := func() {
				inv.StartAttempt(n, time.Now(), time.Time{})
				o.Begun(inv, n.Life())
				o.Ended(inv, protocol.Outcome{Life: n.Life(), Elapsed: time.Millisecond, Verdict: v})
				inv.EndAttempt()
			}
			attempt()
			assert.Zero(t, testing.AllocsPerRun(100, attempt), v)
		}
	})
}
