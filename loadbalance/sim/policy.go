package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// chooser is the strategy of one consumer, as the simulation sees it.
type chooser interface {
	// choose returns the server for a request, -1 if there is none.
	choose(r *request) int32
	// place is told of a request that is at r.server without having been asked.
	place(r *request)
	// begun and ended are called once each for every request that is sent.
	begun(r *request)
	ended(r *request, a answer)
	// learn is what has become of a server, as soon as the consumer knows.
	learn(v *server, how int32)
}

// maker makes the choosers of consumers, one at a time.
type maker struct {
	make    func(w *world, consumer int) (chooser, error)
	reports bool // they read the providers' load averages
}

// Policies returns the names that [Options.Policy] knows: the load balancers of this
// module ([loadbalance.Builtin]) as they are, with the ejection of outliers as the
// cluster does it; and for comparison, by names that no parameter "loadbalance"
// knows,
//
//   - java-…: the rules of Dubbo for Java, with their faults, and as
//     java-leastactive-weighted the cure that is usually proposed for one of them;
//   - oracle: the provider at which this very request costs the least time if nobody comes
//     after it, its own and, where requests share cores, what it holds up the others; it
//     knows all queues, caches and faults, and how much work each request is;
//   - jsq: the provider with the shortest queue for its speed; it knows all queues
//     and faults.
//
// The last two are references that no consumer can be. They are no bound: each does what
// is best for the request at hand, not for those that follow, and now and then a strategy
// comes out ahead of both.
func Policies() []string {
	names := slices.Collect(maps.Keys(loadbalance.Builtin()))
	return slices.Sorted(slices.Values(append(names, slices.Collect(maps.Keys(baselines))...)))
}

// baselines are the policies that are no load balancers of this module.
var baselines = map[string]maker{
	"oracle": {make: newOracle},
	"jsq":    {make: newJSQ},

	"java-random":               {make: javaMaker(newJavaRandom)},
	"java-roundrobin":           {make: javaMaker(newJavaRoundRobin)},
	"java-roundrobin-2.6.4":     {make: javaMaker(newJavaLegacyRoundRobin)},
	"java-leastactive":          {make: javaMaker(newJavaLeastActive)},
	"java-leastactive-weighted": {make: javaMaker(newJavaWeightedLeastActive)},
	"java-shortestresponse-2.7": {make: javaMaker(newJavaShortestResponse27)},
	"java-shortestresponse-3.3": {make: javaMaker(newJavaShortestResponse33)},
	"java-adaptive":             {make: javaMaker(newJavaAdaptive), reports: true},
	"java-consistenthash":       {make: javaMaker(newJavaConsistentHash)},
	"java-consistenthash-2.7":   {make: javaMaker(newJavaBoundedHash)},
}

// find returns the maker of a policy. An application's own balancers go first.
func find(name string, own map[string]loadbalance.Factory) (maker, error) {
	for _, b := range references {
		if _, taken := own[b]; taken {
			return maker{}, fmt.Errorf("balancer %q: what others are compared with has this name", b)
		}
	}
	factories := loadbalance.Builtin()
	maps.Copy(factories, own)
	if f, ok := factories[name]; ok {
		if f == nil {
			return maker{}, fmt.Errorf("policy %q: the factory is nil", name)
		}
		return maker{
			make:    func(w *world, consumer int) (chooser, error) { return newReal(w, consumer, name, f) },
			reports: name == "adaptive",
		}, nil
	}
	if m, ok := baselines[name]; ok {
		return m, nil
	}
	known := map[string]bool{}
	for n := range factories {
		known[n] = true
	}
	for n := range baselines {
		known[n] = true
	}
	return maker{}, protocol.UnknownName("policy", name, known)
}

// choose makes the choosers of all consumers.
func (w *world) choose(ctx context.Context, one maker) error {
	for c := range w.s.Consumers {
		if err := stopped(ctx); err != nil {
			return err
		}
		chooser, err := one.make(w, c)
		if err != nil {
			return err
		}
		w.choosers = append(w.choosers, chooser)
	}
	w.reports = one.reports
	return nil
}

// stopped returns why a run is to be stopped, nil to go on.
func stopped(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("the run is stopped: %w", context.Cause(ctx))
}
