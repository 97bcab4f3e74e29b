package loadbalance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// closed lets callers call one call after the other for a virtual time of d, and
// returns the longest time for which each provider got none.
func (s *traffic) closed(t *testing.T, callers int, think, d time.Duration, service func(*protocol.Node) time.Duration) map[*protocol.Node]time.Duration {
	s.begin = s.clock.now()
	clear(s.counts)
	last, gaps := map[*protocol.Node]time.Time{}, map[*protocol.Node]time.Duration{}
	called := func(n *protocol.Node) {
		if last[n].IsZero() {
			last[n] = s.begin
		}
		gaps[n] = max(gaps[n], s.clock.now().Sub(last[n]))
		last[n] = s.clock.now()
	}
	var caller func()
	caller = func() {
		if s.clock.now().Sub(s.begin) < d {
			s.call(t, func(n *protocol.Node) time.Duration { called(n); return service(n) }, func() { s.after(think, caller) })
		}
	}
	for range callers {
		s.after(0, caller)
	}
	s.run(2 * d)
	for _, n := range s.nodes {
		called(n)
	}
	return gaps
}

// varying is a time that differs by up to a part of it from call to call.
func varying(rand func() uint64, mean time.Duration, part float64) time.Duration {
	u := float64(rand()>>11) / (1 << 52) // 0 … 2
	return time.Duration(float64(mean) * (1 + part*(u-1)))
}

// Of providers that are equal but for chance each has its part, however few calls are
// under way: the one that seems to be the fastest does not keep all.
func TestNoEqualProviderStarves(t *testing.T) {
	for _, name := range []string{"leastload"} {
		for _, c := range []struct {
			providers, callers int
			think              time.Duration
		}{{3, 1, 0}, {3, 2, 0}, {3, 4, 0}, {3, 1, 50 * milli}, {10, 1, 0}, {10, 4, 0}, {100, 4, 0}} {
			t.Run(fmt.Sprintf("%s/%d providers, %d callers, think %v", name, c.providers, c.callers, c.think), func(t *testing.T) {
				f, rand := newFleet(), source(1)
				for range c.providers {
					f.add(weight(100), 0)
				}
				s := f.traffic(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}))
				gaps := s.closed(t, c.callers, c.think, time.Minute, func(*protocol.Node) time.Duration { return varying(rand, 5*milli, 0.2) })
				for _, n := range f.nodes {
					assert.InEpsilon(t, 1/float64(c.providers), s.share(n), 0.5)
					assert.Less(t, gaps[n], 6*time.Second)
				}
			})
		}
	}
}

// A provider that was slow gets its part again soon after it is well, also of calls
// made one by one.
func TestSlowProviderComesBack(t *testing.T) {
	for _, name := range []string{"leastload"} {
		for _, callers := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s/%d callers", name, callers), func(t *testing.T) {
				f, rand := newFleet().weights(100, 100, 100), source(1)
				sick := f.nodes[0]
				s := f.traffic(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}))
				s.closed(t, callers, 0, 20*time.Second, func(n *protocol.Node) time.Duration {
					if n == sick {
						return 30 * milli
					}
					return varying(rand, 5*milli, 0.2)
				})
				assert.Less(t, s.share(sick), 0.05)
				well := func(*protocol.Node) time.Duration { return varying(rand, 5*milli, 0.2) }
				s.closed(t, callers, 0, 15*time.Second, well)
				s.closed(t, callers, 0, 30*time.Second, well)
				assert.InEpsilon(t, 1.0/3, s.share(sick), 0.4)
			})
		}
	}
}
