package main

// strategy is one way to choose a provider.
type strategy struct {
	key    string
	label  string // in a few words
	about  string
	policy string // of the simulator
	weight [2]int // parameter "weight" of the old and of the new providers; 0: none
}

// strategies are Dubbo's, the cures that people try, and this module's.
func strategies() []strategy {
	return []strategy{
		{
			key: "java", label: "Java leastactive", policy: "java-leastactive",
			about: "Dubbo 2.7.23: the fewest calls under way, and of equals one by weight",
		},
		{
			key: "shortest", label: "shortestresponse", policy: "java-shortestresponse-2.7",
			about: "the cure of another strategy: mean time of the answers × calls under way",
		},
		{
			key: "weighted", label: "weight honoured", policy: "java-leastactive-weighted",
			about: "the cure of patching leastactive: (calls under way + 1) / weight, so that warm-up always counts",
		},
		{
			key: "random", label: "random 50/200", policy: "java-random", weight: [2]int{200, 50},
			about: "the cure of weights by hand: random of Dubbo 3.3, where nothing warms up, with 50 for the new provider and 200 for the others",
		},
		{
			key: "gofer", label: "gofer leastactive", policy: "leastactive",
			about: "Dubbo's rule as gofer has it: warm-up counts for a unique minimum too, with a floor of 10 %",
		},
		{
			key: "leastload", label: "gofer leastload", policy: "leastload",
			about: "gofer's own: calls under way × latency / weight, and what stays long counts little",
		},
	}
}
