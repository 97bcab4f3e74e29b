package cluster

import (
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Shadow compares the load balancer of a method with the one that
// "loadbalance.shadow" names, since the reference was made: plain data. What the other
// one would choose is what it would at the load that the real choices make; how it
// would do with its own it does not show. That matters most with few callers: where
// nothing is under way, a load balancer that looks at load and latency names the same
// provider again and again, whose figures its own calls would have changed.
type Shadow struct {
	Method      string
	LoadBalance string // in force now
	Shadow      string // compared with
	InForce     bool   // still compared with
	Disabled    bool   // it has panicked and is not asked any more
	Failure     string // with what, as the log has it with the place; "" when not Disabled

	Choices   int64   // compared
	Agreed    int64   // of them, the same provider
	Abstained int64   // of them, it chose nobody
	Agreement float64 // share of those agreed on, 0 … 1

	Real, Would ShadowFigures
	Providers   []ShadowProvider // of the list in force; the last one, without address, is all that left
}

// ShadowFigures are what was found at the providers chosen, when they were: averages
// over the choices. Look at Failed first: who fails at once answers quickly what is left.
type ShadowFigures struct {
	Active float64 // calls of the method under way there
	// Failed is the part of the method's calls that had failed there in the minutes
	// before, 0 … 1: everything but a value or a business exception.
	Failed float64
	// Latency is how long answers, values or exceptions, had taken there in the minutes
	// before; 0 is not known. Failures are not in it.
	Latency time.Duration
}

// ShadowProvider is how often a provider was chosen, and would have been.
type ShadowProvider struct {
	Address               string
	Real, Would           int64
	RealShare, WouldShare float64 // 0 … 1
}

// Shadows returns the comparisons of all methods.
func (c *Invoker) Shadows() []Shadow {
	list := c.directory.List().Candidates
	c.shadows.mu.Lock()
	all := slices.Clone(c.shadows.all)
	c.shadows.mu.Unlock()
	var out []Shadow
	for _, s := range all {
		p := c.plan(list, s.slot)
		x := s.figures(list.Nodes())
		x.Method, x.LoadBalance, x.InForce = c.methods.Name(s.slot), p.balance.name, p.shadow == s
		out = append(out, x)
	}
	return out
}

func (s *shadow) figures(nodes []*protocol.Node) Shadow {
	x := Shadow{
		Shadow: s.balance.name, Disabled: s.balance.broken(),
		Choices: s.asked.Load(), Agreed: s.agreed.Load(), Abstained: s.abstained.Load(),
		Real: s.real.figures(), Would: s.would.figures(),
	}
	if failure := s.balance.failure.Load(); failure != nil {
		x.Failure = *failure
	}
	x.Agreement = share(x.Agreed, x.Choices)
	add := func(address string, v *versus) {
		x.Providers = append(x.Providers, ShadowProvider{
			Address: address, Real: v.real.Load(), Would: v.would.Load(),
			RealShare: share(v.real.Load(), x.Choices), WouldShare: share(v.would.Load(), x.Choices-x.Abstained),
		})
	}
	for _, n := range nodes {
		if r, ok := s.rows.Load(n); ok {
			add(n.Address(), r.(*versus))
		} else {
			add(n.Address(), new(versus))
		}
	}
	if s.gone.real.Load()+s.gone.would.Load() > 0 {
		add("", &s.gone)
	}
	return x
}

func (t *tallied) figures() (f ShadowFigures) {
	if n := t.choices.Load(); n > 0 {
		f.Active = float64(t.active.Load()) / float64(n)
	}
	if n := t.tried.Load(); n > 0 {
		f.Failed = float64(t.failed.Load()) / million / float64(n)
	}
	if n := t.timed.Load(); n > 0 {
		f.Latency = time.Duration(t.latency.Load() / n)
	}
	return f
}

func share(part, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return float64(part) / float64(of)
}
