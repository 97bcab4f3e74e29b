package cluster

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

// shadows are the load balancers that a reference is compared with. They are
// instances of their own: asking them takes no turn of the one in force.
type shadows struct {
	balancers *balancers
	lots      lots

	mu   sync.Mutex
	all  []*shadow       // by their first use
	same map[string]bool // names reported to be in force anyway
}

func newShadows(cfg Config, p *panics) *shadows {
	return &shadows{balancers: newBalancers(cfg, shadowKey, p), lots: newLots(cfg)}
}

// of returns the shadow of a method in which a load balancer is in force, nil for
// none; nil shadows have none. Its figures stay when the list or its parameters change.
func (s *shadows) of(slot int, nodes []*protocol.Node, name string, sample int, inForce string) *shadow {
	if s == nil || name == "" {
		return nil
	}
	b := s.balancers.get(name)
	if b == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == inForce && !s.same[name] {
		if s.same == nil {
			s.same = map[string]bool{}
		}
		s.same[name] = true
		b.log.Warn("the load balancer to compare with is the one in force: there is nothing to compare",
			zap.String("parameter", shadowKey), zap.String("value", name), zap.String("method", s.balancers.methods.Name(slot)))
	}
	i := slices.IndexFunc(s.all, func(x *shadow) bool { return x.slot == slot && x.balance == b })
	if i < 0 {
		i = len(s.all)
		s.all = append(s.all, &shadow{slot: slot, balance: b, lots: s.lots})
	}
	x := s.all[i]
	x.sample.Store(int64(sample))
	x.retire(nodes)
	return x
}

// shadow compares what a load balancer chooses with what another one would. It sees
// the load that the real choices make, so its figures are an estimate of what it would
// do at first: what its own choices would lead to, they do not show.
type shadow struct {
	slot    int
	balance *balancer
	lots    lots
	sample  atomic.Int64 // asked for one of so many choices

	asked, agreed, abstained atomic.Int64
	real, would              tallied
	rows                     sync.Map // *protocol.Node → *versus
	gone                     versus   // of providers that have left
}

// versus is how often a provider was chosen, and would have been.
type versus struct{ real, would atomic.Int64 }

// tallied sums up what choices found.
type tallied struct {
	choices, active atomic.Int64
	tried, failed   atomic.Int64 // choices of providers that calls have ended at; millionths of those that failed
	timed, latency  atomic.Int64 // choices of providers that have answered; ns
}

// add looks at a provider that is chosen. Its failures say nothing about how fast it
// is, however fast they were (F4): they are counted by themselves.
func (t *tallied) add(n *protocol.Node, slot int, now time.Time) {
	status := n.Status(slot)
	c, _ := status.Recent(now)
	if c.Total == 0 {
		c = status.Counters()
	}
	t.choices.Add(1)
	t.active.Add(int64(c.Active))
	if c.Total > 0 {
		t.tried.Add(1)
		t.failed.Add(int64(share(c.Failed, c.Total) * million))
	}
	if answers, mean := c.Answers(); answers > 0 {
		t.timed.Add(1)
		t.latency.Add(int64(mean))
	}
}

const million = 1e6

// sampled reports whether the shadow is to be asked for the next choice.
func (s *shadow) sampled() bool {
	return s.lots.one(int(s.sample.Load())) && !s.balance.broken()
}

// choose returns what the load balancer chooses, and compares.
func (s *shadow) choose(real *balancer, left *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	would := s.ask(left, inv)
	n := real.choose(left, inv)
	if n == nil || s.balance.broken() {
		return n
	}
	s.asked.Add(1)
	s.real.add(n, s.slot, inv.Start)
	s.row(n).real.Add(1)
	switch {
	case would == nil:
		s.abstained.Add(1)
		return n
	case would == n:
		s.agreed.Add(1)
	}
	s.would.add(would, s.slot, inv.Start)
	s.row(would).would.Add(1)
	return n
}

// ask returns what the shadow would choose, nil for nobody who can be called.
func (s *shadow) ask(left *protocol.Candidates, inv *protocol.Invocation) (n *protocol.Node) {
	defer func() {
		if v := recover(); v != nil {
			s.balance.fail(v)
			n = nil
		}
	}()
	n = s.balance.Select(left, inv)
	if n == nil || !s.balance.builtin && !slices.Contains(left.Nodes(), n) || !inv.Allows(n) {
		return nil
	}
	return n
}

func (s *shadow) row(n *protocol.Node) *versus {
	if r, ok := s.rows.Load(n); ok {
		return r.(*versus)
	}
	r, _ := s.rows.LoadOrStore(n, new(versus))
	return r.(*versus)
}

// retire sums up the figures of providers that are not in the list.
func (s *shadow) retire(nodes []*protocol.Node) {
	in := make(map[*protocol.Node]bool, len(nodes))
	for _, n := range nodes {
		in[n] = true
	}
	for key := range s.rows.Range {
		if n := key.(*protocol.Node); !in[n] {
			if r, ok := s.rows.LoadAndDelete(n); ok {
				s.gone.real.Add(r.(*versus).real.Load())
				s.gone.would.Add(r.(*versus).would.Load())
			}
		}
	}
}

// broken reports whether a shadow has panicked.
func (b *balancer) broken() bool { return b.failure.Load() != nil }

// fail takes a shadow that has panicked out of use.
func (b *balancer) fail(value any) {
	e := protocol.Recovered(value)
	text := e.Cause.Error()
	if !b.failure.CompareAndSwap(nil, &text) {
		return
	}
	b.panics.add("a load balancer that is only compared with panicked; it is not asked any more", e, zap.String(shadowKey, b.name))
}
