//go:build !race

// Shares take many picks to show, which are made by one goroutine: there is no race to
// detect, and the detector would make it many times as long.

package loadbalance_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

func TestSharesByWeight(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			t.Log("no weights: even shares are tested elsewhere")
			return
		}
		for _, ws := range [][]int{{1, 2, 3}, {5, 1, 1}, {100, 100, 100}, {100, 1}, {200, 100, 50, 25, 0, 25}, {2_000_000_000, 2_000_000_000, 1_000_000_000}} {
			f := newFleet().weights(ws...)
			lb := s.new(t, loadbalance.Config{Rand: source(1)})
			counts := f.picks(t, lb, f.list(), f.call(), 30_000)
			requireShares(t, floats(ws), counts)
		}
	})
}

// The shares of those that are left are by weight, too, however many are not.
func TestSharesOfTheRest(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			return
		}
		for _, ws := range [][]int{{100, 100, 100, 100}, {10, 20, 30, 40}, {1, 1000, 3, 2}} {
			for _, kind := range []string{"down", "tried", "saturated", "all but two down"} {
				t.Run(fmt.Sprint(ws, kind), func(t *testing.T) {
					f := newFleet()
					for _, w := range ws {
						p := weight(w)
						p["actives"] = "5"
						f.add(p, 0)
					}
					inv, want := f.call(), floats(ws)
					gone := []int{1}
					switch kind {
					case "down":
						setState(f.nodes[1], protocol.Down)
					case "tried":
						inv.MarkTried(f.nodes[1])
					case "saturated":
						for range 5 {
							f.nodes[1].Status(f.method.Slot).Begin(5)
						}
					default:
						for range 40 { // so many that drawing again rarely helps
							f.add(weight(ws[1]), 0)
							want = append(want, 0)
							gone = append(gone, len(f.nodes)-1)
						}
						for _, i := range append(gone, 0) {
							setState(f.nodes[i], protocol.Down)
						}
						want[0] = 0
					}
					for _, i := range gone {
						want[i] = 0
					}
					lb := s.new(t, loadbalance.Config{Rand: source(2)})
					requireShares(t, want, f.picks(t, lb, f.list(), inv, 20_000))
				})
			}
		}
	})
}

// B075: while providers warm up the shares are those of the weights in force.
func TestSharesWhileWarmingUp(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			return
		}
		for name, up := range map[string]time.Duration{"60 s": time.Minute, "1 ms": time.Millisecond} {
			t.Run(name, func(t *testing.T) {
				f := newFleet()
				for _, u := range []time.Duration{up, 5 * time.Minute, 11 * time.Minute} {
					f.add(warm(100), u)
				}
				want := make([]float64, 3)
				for i, n := range f.nodes {
					want[i] = float64(loadbalance.Weight(n.Method(f.method.Slot), n.Life().Start, f.clock.now()))
				}
				lb := s.new(t, loadbalance.Config{Now: f.clock.now, Rand: source(4)})
				requireShares(t, want, f.picks(t, lb, f.list(), f.call(), 30_000))
			})
		}
	})
}

// A parameter changed by a rule and a provider that was started again count at once,
// in the list that is in use.
func TestChangesCountAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			return
		}
		f := newFleet().weights(100, 100)
		lb := s.new(t, loadbalance.Config{Now: f.clock.now, Rand: source(5)})
		c, inv := f.list(), f.call()
		requireShares(t, []float64{1, 1}, f.picks(t, lb, c, inv, 1000))

		n := f.nodes[0]
		n.Update(f.url(n.Key(), weight(0)), n.Life().Start)
		requireShares(t, []float64{0, 1}, f.picks(t, lb, c, inv, 1000))

		n.Update(f.url(n.Key(), warm(100)), f.clock.now().Add(-6*time.Minute))
		requireShares(t, []float64{60, 100}, f.picks(t, lb, c, inv, 20_000))

		f.clock.advance(4 * time.Minute)
		requireShares(t, []float64{1, 1}, f.picks(t, lb, c, inv, 20_000))
	})
}

// Without a clock of its own a strategy goes by the system's, here by the bubble's,
// and by the time at which the call began.
func TestSystemClock(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			return
		}
		for name, call := range map[string]func(*fleet) *protocol.Invocation{
			"start unknown": (*fleet).call,
			"start known": func(f *fleet) *protocol.Invocation {
				return &protocol.Invocation{Method: f.method, Start: time.Now()}
			},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet()
					f.clock.ns.Store(time.Now().UnixNano())
					f.add(warm(100), time.Minute)
					f.add(weight(100), 0)
					lb, c := s.new(t, loadbalance.Config{Rand: source(8)}), f.list()
					requireShares(t, []float64{10, 100}, f.picks(t, lb, c, call(f), 10_000))
					old := call(f)
					time.Sleep(4 * time.Minute) // the bubble's: no time passes
					if name == "start known" {
						requireShares(t, []float64{10, 100}, f.picks(t, lb, c, old, 10_000))
					}
					requireShares(t, []float64{50, 100}, f.picks(t, lb, c, call(f), 10_000))
					time.Sleep(5 * time.Minute)
					requireShares(t, []float64{1, 1}, f.picks(t, lb, c, call(f), 10_000))
				})
			})
		}
	})
}

// Every method has weights of its own.
func TestSharesByMethod(t *testing.T) {
	each(t, func(t *testing.T, s traits) {
		if !s.weighted {
			return
		}
		f := newFleet()
		f.add(params{"weight": "100", "save.weight": "300", "warmup": "0"}, 0)
		f.add(params{"weight": "200", "warmup": "0"}, 0)
		lb, c := s.new(t, loadbalance.Config{Rand: source(6)}), f.list()
		save := &protocol.Invocation{Method: f.methodOf("save")}
		requireShares(t, []float64{100, 200}, f.picks(t, lb, c, f.call(), 9000))
		requireShares(t, []float64{300, 200}, f.picks(t, lb, c, save, 9000))
	})
}

func floats(ws []int) []float64 {
	fs := make([]float64, len(ws))
	for i, w := range ws {
		fs[i] = float64(w)
	}
	return fs
}
