package loadbalance

import (
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explainer is a [LoadBalance] that can say how it decides. Those of this package
// can; of others only what is known anyway is told.
type Explainer interface {
	// Explain tells how a call would be decided at this moment. It changes nothing: no
	// turn is taken, no random number drawn, nothing learned. It may allocate.
	Explain(c *protocol.Candidates, inv *protocol.Invocation) Explanation
}

// Explanation is a decision in detail.
type Explanation struct {
	// Rule says in one sentence what the strategy compares, with the figures that are
	// the same for all candidates.
	Rule string
	// Candidates are the nodes of the list, in its order.
	Candidates []Candidate
}

// Candidate is one node in a decision. What a strategy does not look at is left at
// its zero value.
type Candidate struct {
	Node *protocol.Node
	// Allowed is false when the call cannot go there: it was tried, is away, ejected,
	// or all its "actives" are in use.
	Allowed bool
	// Weight is the weight in force, FullWeight the one after warm-up; Warming is
	// true while they can differ. WeightUsed says whether the weight entered this
	// decision: Dubbo's leastactive does not look at it when one provider alone has
	// the fewest calls (F3).
	Weight, FullWeight int
	Warming            bool
	WeightUsed         bool
	// Active is the number of calls under way as the strategy counts them: of the method,
	// or for leastload and ringload of all methods.
	Active int
	// Latency is the strategy's estimate, failures charged; 0: it has none.
	Latency time.Duration
	// Score is what the strategy compares, the least wins. Scored is false for
	// strategies that compare nothing.
	Score  float64
	Scored bool
	// Chance is the probability that the call goes here, 0 … 1.
	Chance float64
	// Reason says in a few words why it is chosen, or not.
	Reason string
}
