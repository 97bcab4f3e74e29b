package cluster

import (
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Explanation tells how an attempt is decided: plain data without secrets. Its
// String is a table for a terminal.
type Explanation struct {
	Service string // service key: [group/]interface[:version]
	Method  string
	Attempt int // of the call, from 1

	LoadBalance string // its name
	Origin      string // who has named it
	// Rule says in a sentence what the load balancer compares, "" when it does not
	// explain itself.
	Rule string
	// Explained is true when Score, Chance, WeightUsed and Reason of the candidates are
	// known: the load balancer has told them, or none is asked. Otherwise it is one that
	// is no [loadbalance.Explainer].
	Explained bool
	// Decision says who decides, and what is special about it.
	Decision string
	// Funnel counts the providers up to those that can be called.
	Funnel     protocol.Funnel
	Candidates []Candidate
}

// Candidate is one provider in a decision.
type Candidate struct {
	Address string
	Chosen  bool   // in a [Trace]: the attempt went here
	State   string // ready, readonly, down
	// Allowed is whether the call may go there; Refusal says why not.
	Allowed bool
	Refusal string

	// Weight is the one in force and FullWeight the one after warm-up. Warming is true
	// while they can differ; Uptime is 0 when the provider's start is not known.
	// WeightUsed says whether the weight entered this decision.
	Weight, FullWeight int
	Warming            bool
	Uptime             time.Duration
	WeightUsed         bool

	Active  int // calls of the method under way
	Actives int // how many may be, 0 for no limit
	// Counted is how many calls are under way as the load balancer counts them, where it
	// does: those of all methods for leastload and ringload.
	Counted int
	// Latency is what the load balancer expects; where it expects nothing, and
	// LatencyMeasured is true, the mean of all calls of the method in this life of the
	// provider. 0 is not known.
	Latency         time.Duration
	LatencyMeasured bool
	Total, Failed   int64 // ended calls of the method in this life
	FailedInRow     int   // of all methods; what ejects
	Ejected         bool

	Score  float64 // what is compared, the least wins
	Scored bool    // there is one
	Chance float64 // that the call goes here, 0 … 1
	Reason string  // why, or why not

	key string // of the node
}

// Explain tells how the next attempt of a call would be decided at this moment. It
// makes no call and changes nothing: no turn is taken, nothing is drawn or learned.
// inv is used up; of a call it needs the method, and what routers and hashing load
// balancers look at. A method that has no slot, which is less than 0, is not given one.
// The error is that of a router or load balancer that panics.
func (c *Invoker) Explain(inv *protocol.Invocation) (x Explanation, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = protocol.Recovered(v)
		}
	}()
	if inv.Start.IsZero() {
		inv.Start = time.Now()
	}
	list := c.directory.List()
	if inv.Method.Slot < 0 {
		c, list = c.preview(list, inv)
	}
	left, rule := c.route(list, inv)
	if firstAllowed(left.Nodes(), inv) == nil {
		relax(inv, left.Nodes())
	}
	x = c.explainChoice(list, left, inv)
	x.Funnel.Rule = rule
	return x, nil
}

// preview returns what the cluster and the list would be if the method had been called:
// copies, so that explaining it leaves nothing behind.
func (c *Invoker) preview(list *protocol.Listing, inv *protocol.Invocation) (*Invoker, *protocol.Listing) {
	m := *inv.Method
	methods, slot := c.methods.Preview(m.Name)
	m.Slot, inv.Method = slot, &m
	next := *list
	next.Candidates = list.Candidates.Preview(methods, slot)
	return &Invoker{
		reference: c.reference, directory: c.directory, methods: methods, router: c.router, outliers: c.outliers,
		balancers: c.balancers.preview(methods),
	}, &next
}
