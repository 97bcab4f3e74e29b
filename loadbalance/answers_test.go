//go:build !race

// Everything here is one goroutine that computes minutes of traffic: there is no race
// to detect, and the detector would make it many times as long.

package loadbalance_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// F4: exceptions are answers, but a provider that throws at once is no fast one for it:
// it has no more than its part. One whose answers are of no use has less.
func TestFastAnswersWithoutValue(t *testing.T) {
	for _, name := range []string{"adaptive", "leastactive", "leastload", "shortestresponse"} {
		for _, tt := range []struct {
			what    string
			verdict protocol.Verdict
			most    float64
		}{{"exceptions", protocol.Succeeded, 0.45}, {"of no use", protocol.Useless, 0.2}} {
			for _, took := range []float64{0.2, 5} {
				t.Run(fmt.Sprintf("%s/%s in %v ms", name, tt.what, took), func(t *testing.T) {
					f, rand := newFleet().weights(100, 100, 100), source(1)
					s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), 4, rand, took, 5, 5)
					serve := s.serve
					s.serve = func(i int) (time.Duration, protocol.Verdict) {
						d, v := serve(i)
						if i == 0 {
							v = tt.verdict
						}
						return d, v
					}
					s.err = func(i int) error {
						if i == 0 {
							return errors.New("no connection to the database")
						}
						return nil
					}
					s.run(t, 30*time.Second)
					most := tt.most
					if name == "leastactive" { // it does not know what is of use
						most = 0.45
					}
					assert.Less(t, share(s.counts, 0), most, "%v", s.counts)
					assert.Positive(t, s.counts[0])
				})
			}
		}
	}
}

// Where every call ends in an exception all providers are alike.
func TestExceptionsEverywhere(t *testing.T) {
	for _, name := range []string{"adaptive", "leastload", "shortestresponse"} {
		f, rand := newFleet().weights(100, 100, 100), source(2)
		s := f.callers(balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), 4, rand, 5, 5, 5)
		s.err = func(int) error { return errors.New("no such order") }
		s.run(t, 30*time.Second)
		for i := range s.counts {
			assert.InDelta(t, 1.0/3, share(s.counts, i), 0.1, "%s: %v", name, s.counts)
		}
	}
}

// Of one-way calls nobody knows how long they take: a burst of them is spread, and they
// do not make a slow provider look as usual.
func TestOneWayCalls(t *testing.T) {
	for _, name := range []string{"adaptive", "leastactive", "leastload", "shortestresponse"} {
		t.Run(name, func(t *testing.T) {
			f, rand := newFleet().weights(100, 100, 100, 100, 100), source(3)
			lb, c := balancer(t, name, loadbalance.Config{Now: f.clock.now, Rand: rand}), f.list()
			send := func() int {
				inv := f.call()
				inv.OneWay, inv.Start = true, f.clock.now()
				n := lb.Select(c, inv)
				f.attempt(lb, n, inv)(0, protocol.Succeeded)
				return f.index(t, n)
			}
			s := f.callers(lb, 2, rand, 100, 5, 5, 5, 5)
			s.run(t, 5*time.Second)
			before := share(s.counts, 0)
			for range 3 {
				counts := make([]int, len(f.nodes))
				for range 500 {
					counts[send()]++
				}
				for _, n := range counts[1:] {
					assert.Less(t, n, 200, "%v", counts)
				}
				s.run(t, 2*time.Second)
			}
			if name != "leastactive" {
				require.Less(t, before, 0.05)
				assert.Less(t, share(s.counts, 0), 0.05, "%v", s.counts)
			}
			f.clock.advance(time.Second)
			send()
			f.clock.advance(time.Second)
			x := lb.(loadbalance.Explainer).Explain(c, f.call())
			under := 0
			for _, one := range x.Candidates {
				under += one.Active
			}
			assert.LessOrEqual(t, under, 2, "what has left is not under way for ever: only the two callers' calls are")
		})
	}
}
