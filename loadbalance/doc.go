// Package loadbalance chooses the provider of a call.
//
// A [LoadBalance] picks one node of a [protocol.Candidates]. The strategies bear
// Dubbo's names, by which the parameter "loadbalance" chooses them, per method if
// need be:
//
//   - random, the default: at random by weight;
//   - roundrobin: in turns by weight, smoothly;
//   - leastactive: where the fewest calls are under way, for their weight;
//   - shortestresponse: where calls under way and their average time are least;
//   - adaptive: the better of two, by latency, successes and what the provider
//     reports about its processors;
//   - consistenthash: where the arguments belong on a ring, as with Java's consumers.
//
// Two names are not Dubbo's, and need nothing of the providers:
//
//   - leastload: where calls under way, latency and failures are least for the weight.
//     It is the one to use unless calls have a home;
//   - ringload: consistenthash that goes elsewhere when the home has much to do.
//
// [Builtin] has them by name. An application adds its own to a copy of that map,
// which is what a client's option WithLoadBalance does.
//
// # Weights
//
// A provider's weight is its parameter "weight", of the method or the provider. A
// provider that has just started begins at 1 and reaches its weight after "warmup",
// on a curve called [Ramp]. [Weight] tells the weight at a moment.
//
// # How a strategy is built
//
// A pick may not allocate, lock or look at ten thousand nodes if it can help it. So
// what a strategy knows about a list and a method, it derives once: a book keeps
// for each list and method a page, with the weights in force and the strategy's own
// part (a lottery, a rotation, the counters to compare). A page is turned when a
// node gets other parameters, is started again, or reaches the next step of its
// ramp; while nobody warms up that takes one comparison and no look at the clock.
// The page of a list's predecessor is there to carry on from.
//
// Nodes that a call may not go to (tried, away, all "actives" in use) are skipped
// within the same page: the next draw or turn takes their place, and after a few in
// vain a scan of all. So their share goes to all others by weight.
//
//	book      page.go        pages by list and method: weights, version, ramp
//	weight    weight.go      one node's weight at one moment
//	lottery   lottery.go     weighted draw in constant time
//	          draw.go        draws among the nodes that a call may go to
//	rotation  rotation.go    smooth weighted round robin, recorded as a schedule
//	contest   contest.go     the least cost for its weight, with warm-up
//	window    window.go      a mean over the latest period, sliding
//	pace      pace.go        what adaptive knows of a provider
//	learner   latency.go     what leastload and ringload learn of providers
//	average   average.go     means that fade
//	loads     loads.go       what their picks compare, and shares in the long run
//	ring      ring.go        where nodes and calls are placed, carried from list to list
//	walk      ringwalk.go    clockwise round it
//	          hash.go        the place of a call
package loadbalance
