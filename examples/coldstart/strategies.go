package main

import "fmt"

// strategy is one way to choose a provider.
type strategy struct {
	key    string
	label  string // in a few words
	about  string
	policy string // of the simulator
	weight [2]int // parameter "weight" of the old and of the new providers; 0: none
}

// The cure of weights set by hand.
const (
	weightOld = 200
	weightNew = 50
	byHand    = 1.0 * weightNew / (weightNew + newcomer*weightOld) // the share it gives
)

// strategies are Dubbo's, the cures that people try, and this module's.
func strategies() []strategy {
	return []strategy{
		{
			key: "java", label: "Java leastactive", policy: "java-leastactive",
			about: "Dubbo 2.7.23: the fewest calls under way; only if several have as few, one of them by weight.",
		},
		{
			key: "shortest", label: "Java shortestresponse", policy: "java-shortestresponse-2.7",
			about: "The first cure, another strategy of Dubbo 2.7.23: the least mean time of the answers × (calls under way + 1). Who has not answered yet counts as infinitely fast.",
		},
		{
			key: "weighted", label: "patched leastactive", policy: "java-leastactive-weighted",
			about: "The second cure, a patch that is often proposed for Java's leastactive: the least (calls under way + 1) / weight, so that the weight, and with it warm-up, is always honoured.",
		},
		{
			key: "random", label: "Java random 50/200", policy: "java-random", weight: [2]int{weightOld, weightNew},
			about: fmt.Sprintf("The third cure, weights set by hand: Dubbo 3.3's random with weight %d for the new provider and %d for each of the old ones, so %d of %d calls, %s. Consumers of 3.3 learn no start times from ZooKeeper, so nothing warms up.",
				weightNew, weightOld, weightNew, weightNew+newcomer*weightOld, percent(byHand)),
		},
		{
			key: "gofer", label: "gofer leastactive", policy: "leastactive",
			about: "Dubbo's rule in gofer: a provider drawn by weight if none has fewer calls under way, else the one with the least (calls under way + 1) / weight. Against busy providers one that warms up counts with a tenth of its full weight at least.",
		},
		{
			key: "leastload", label: "gofer leastload", policy: "leastload",
			about: "gofer's own: the least (calls under way + 1) × latency^1.2 / weight. Calls that stay for very long count little; who warms up counts with a fifth of the full weight at least; who is little known is tried now and then.",
		},
	}
}
