// Package sim simulates a cluster of providers and its consumers in virtual time, to
// see what a load balancer does there before a service does. The load balancers,
// nodes, counters and the ejection of outliers are those of this module, not copies;
// only the wire is missing. Beside them it has the rules of Dubbo for Java, with their
// faults, and as references two choosers that know everything: see [Policies].
//
// A cluster is described in a few lines of YAML, or as a [Scenario]; what is not said
// has a default:
//
//	about: our shop; one of three providers is restarted cold
//	consumers: 20
//	load: 0.6
//	requests: [{mean: 8ms}]
//	providers:
//	  - count: 2
//	    workers: 8
//	  - workers: 8
//	    cold: {slow: 3, for: 20s, heal: 10s}
//	    faults: [{at: 10s, for: 5s, leave: true}]
//
// [Load] and [Parse] read it, and tell file, line and key of a mistake; [Run] runs it
// with one policy, and its result has figures of all and of each provider, in the order
// in which they are listed:
//
//	s, err := sim.Load("shop.yml")
//	…
//	r, err := sim.Run(ctx, s, sim.Options{Policy: "leastload", Seed: 1})
//	…
//	fmt.Println(r.P99, r.Failed, r.Providers[2].Share)
//
// The keys are the fields of [Scenario], [Request], [Provider], [Fault] and so on. A 0
// that is written is a 0, not a default (in a program it is [None]); what has no effect is
// a mistake. [Scenario.Check] has bounds for everything, so that what it accepts ends and
// has room; a run that takes too long ends with its context.
//
// The same seed gives the same requests whatever the policy, and the same policy the same
// result, to the bit. The scenarios by which the strategies of this module are judged come
// with the package ([Core], [Hashing], [Named]); the command loadbalance/sim/cmd/quality
// compares policies over all of them, or over a file of one's own, and [Grid] does so in a
// program. They are not to be changed to suit a result: a test has their hash.
//
// # How it works
//
// Requests arrive at random moments (open arrivals, exponential between each other) at
// consumers of their own. A consumer's policy chooses; the request travels, waits for
// a worker or shares the cores, is worked on, and the answer travels back. A request
// that has no answer at its deadline fails for its consumer, and stays with its
// provider. There are no retries, so that errors show.
//
//	scenario.go, defaults.go  a cluster as data            yaml*.go     and as a file
//	check.go, params.go       what it may be (limits.go)   capacity.go  what it can take
//	arrivals.go               requests, before anybody has decided about them
//	world.go, events.go       a run, and the heap of its events
//	calls.go, open.go         requests at their consumer   long.go      those that stay
//	serving.go, server.go     and at their provider        sharing.go, cache.go, cold.go
//	faults.go                 what goes wrong there, and when
//	lives.go                  providers come, go and die, and consumers learn of it
//	policy.go                 who may choose: real.go (this module), java*.go, truth.go (forecast*.go)
//	figures.go, result.go     what is measured             quality.go   and compared
//
// What it leaves out: bursts, retries, routing, limits on connections, networks that
// lose or delay by load, and providers whose speed depends on anything else than what
// the scenario says. Queueing theory agrees with it where there is a formula (M/M/1,
// M/M/c, M/G/1, processor sharing, Little's law), which tests check.
package sim
