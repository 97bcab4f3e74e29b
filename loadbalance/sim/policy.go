package sim

import (
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

// maker makes the chooser of one consumer.
type maker func(w *world, consumer int) (chooser, error)

// Policies returns the names that [Options.Policy] knows: the load balancers of this
// module ([loadbalance.Builtin]) as they are, with the ejection of outliers as the
// cluster does it; and for comparison, by names that no parameter "loadbalance"
// knows,
//
//   - java-…: the rules of Dubbo for Java, with their faults, and as
//     java-leastactive-weighted the cure that is usually proposed for one of them;
//   - oracle: the provider that will have finished this very request first; it knows
//     all queues, caches, faults and how much work the request is;
//   - jsq: the provider with the shortest queue for its speed; it knows all queues
//     and faults.
func Policies() []string {
	names := slices.Collect(maps.Keys(loadbalance.Builtin()))
	return slices.Sorted(slices.Values(append(names, slices.Collect(maps.Keys(baselines))...)))
}

// baselines are the policies that are no load balancers of this module.
var baselines = map[string]maker{
	"oracle": newOracle,
	"jsq":    newJSQ,

	"java-random":               javaMaker(newJavaRandom),
	"java-roundrobin":           javaMaker(newJavaRoundRobin),
	"java-roundrobin-2.6.4":     javaMaker(newJavaLegacyRoundRobin),
	"java-leastactive":          javaMaker(newJavaLeastActive),
	"java-leastactive-weighted": javaMaker(newJavaWeightedLeastActive),
	"java-shortestresponse-2.7": javaMaker(newJavaShortestResponse27),
	"java-shortestresponse-3.3": javaMaker(newJavaShortestResponse33),
	"java-adaptive":             javaMaker(newJavaAdaptive),
	"java-consistenthash":       javaMaker(newJavaConsistentHash),
	"java-consistenthash-2.7":   javaMaker(newJavaBoundedHash),
}

// find returns the maker of a policy. An application's own balancers go first.
func find(name string, own map[string]loadbalance.Factory) (maker, error) {
	factories := loadbalance.Builtin()
	maps.Copy(factories, own)
	if f, ok := factories[name]; ok {
		return func(w *world, consumer int) (chooser, error) { return newReal(w, consumer, name, f) }, nil
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
	return nil, protocol.UnknownName("policy", name, known)
}

// choosers makes those of all consumers.
func (w *world) choose(name string, own map[string]loadbalance.Factory) error {
	m, err := find(name, own)
	if err != nil {
		return err
	}
	for c := range w.s.Consumers {
		one, err := m(w, c)
		if err != nil {
			return fmt.Errorf("policy %s: %w", name, err)
		}
		w.choosers = append(w.choosers, one)
	}
	w.reports = name == "adaptive" || name == "java-adaptive"
	return nil
}
