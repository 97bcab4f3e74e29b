package gofer

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// Finding is something in the configuration or the live figures of a reference that
// is known to balance badly, with what to do about it. It holds no secrets.
type Finding struct {
	// Kind names the rule, the same in every version: one of the Finding constants.
	Kind      FindingKind
	Reference string   // service key: [group/]interface[:version]
	Method    string   // "" when it is not about one method
	Providers []string // addresses, the worst first; empty when it is about all
	Text      string   // what was found, with the figures
	Remedy    string   // what to do
}

// FindingKind names a rule of [Reference.Diagnose].
type FindingKind string

// The findings.
const (
	// FindingNoActives: leastactive or shortestresponse without "actives", at all providers or
	// some. gofer counts anyway; Java consumers of the same configuration balance on zeros,
	// or take those for idle (F2). An explicit actives=0 at all says that this is known.
	FindingNoActives FindingKind = "no-actives"
	// FindingSlowProvider: a provider is much slower than the others, and the strategy
	// does not look at latency.
	FindingSlowProvider FindingKind = "slow-provider"
	// FindingMixedMethods: methods of very different duration share providers, and the
	// strategy counts their calls alike. How long one-way calls take is not known.
	FindingMixedMethods FindingKind = "mixed-methods"
	// FindingExceptions: a provider answers most calls with exceptions, or to no use,
	// where its peers answer with values (F4).
	FindingExceptions FindingKind = "exceptions"
	// FindingUnanswered: the callers of most calls at a provider gave up without an answer,
	// before the method's timeout was over, where its peers answer.
	FindingUnanswered FindingKind = "unanswered"
	// FindingFailsFast: a provider fails sooner than the others answer (F4). What counts
	// for the other findings about answers does not count here.
	FindingFailsFast FindingKind = "fails-fast"
	// FindingFails: a provider fails many calls, or leaves them unanswered for their whole
	// timeout, where its peers answer.
	FindingFails FindingKind = "fails"
	// FindingFailsEverywhere: many calls of a method fail, whichever provider they go to: it
	// is not one of them.
	FindingFailsEverywhere FindingKind = "fails-everywhere"
	// FindingEjected: a provider is ejected for its failures, comes back for a trial, fails
	// and is ejected again. It has too few calls to be found otherwise.
	FindingEjected FindingKind = "ejected"
	// FindingRefusals: a provider refuses many calls for a limit of its own ("executes",
	// or its thread pool).
	FindingRefusals FindingKind = "refusals"
	// FindingNoWarmup: "warmup" is set, or its default is in force, but the provider
	// does not say when it started (F1).
	FindingNoWarmup FindingKind = "no-warmup"
	// FindingOverShare: a provider has far more calls than its weight says; under
	// consistenthash, which knows no weights, far more than an equal share.
	FindingOverShare FindingKind = "over-share"
	// FindingStuckCalls: calls are under way for far longer than others took, or for very
	// long when none has ever ended: some do not return.
	FindingStuckCalls FindingKind = "stuck-calls"
	// FindingClockSkew: a provider's clock is ahead of this machine's, or seems to be
	// behind (F18).
	FindingClockSkew FindingKind = "clock-skew"
)

// String returns the finding in lines of text, ready for a terminal or a log.
func (f Finding) String() string {
	where := f.Reference
	if f.Method != "" {
		where += "." + f.Method
	}
	if len(f.Providers) > 0 {
		where += " at " + strings.Join(f.Providers, ", ")
	}
	return fmt.Sprintf("%s: %s: %s. %s", f.Kind, where, f.Text, f.Remedy)
}

// Diagnose looks for what is known to balance badly in the client's references. See
// [Reference.Diagnose].
func (c *Client) Diagnose() []Finding {
	var out []Finding
	for _, s := range c.sorted() {
		out = append(out, diagnose(s.figures(time.Now()))...)
	}
	return out
}

// Diagnose looks for what is known to balance badly, in the reference's parameters
// and in the calls made so far: each finding has the figures and a remedy. It counts
// the calls of a recent time, which began four to eight minutes ago ([protocol.RecentPeriod])
// or when this consumer first saw a provider's present life; shares from when the list
// of providers last changed, if that is later. So what begins now is found within about
// five minutes, most of it sooner, and what is over is not told for longer than ten. It looks
// at a provider's speed only once it had some dozens of calls in that time, and changes
// nothing. A provider that was well before is found when nothing comes of ten calls in
// a row. None is returned when all is well, or too little was called to tell.
func (r *Reference) Diagnose() []Finding { return diagnose(r.service.figures(time.Now())) }

// fleet is what the rules look at: the figures of one reference.
type fleet struct {
	reference string
	direct    bool              // addresses given, no registry: they tell no start
	providers []providerFigures // what is not about a method
	methods   []methodFigures
	ailing    []bool // by provider: see ailments
	now       time.Time
	recent    time.Time      // when what is counted began
	blamed    map[blame]bool // what has been found so far
}

// blame is a provider that was found for a method, or for any: "". Without a provider it
// is all of them.
type blame struct{ method, provider string }

// methodFigures are the figures of one method.
type methodFigures struct {
	name      string
	balance   string        // the strategy in force
	sticky    bool          // it is asked once
	bare      bool          // no call has arguments
	steady    time.Duration // for how long the providers have been the same
	providers []providerFigures
	sorted    []time.Duration // the mean durations at those with enough calls
	tried     []time.Duration // and at those with any
}

// providerFigures are the figures of a method at one provider.
type providerFigures struct {
	address   string
	actives   int  // limit
	told      bool // it is set, be it to 0
	timeout   time.Duration
	warmup    time.Duration
	unweighed bool      // its parameters name a strategy that knows no weights
	warm      time.Time // when its warm-up ends; zero: there is none
	stamp     time.Time // start as the provider tells it; zero: it does not
	start     time.Time // start as it is believed
	since     time.Time
	down      bool
	ejection  cluster.Ejection
	counted

	calls int64   // in the time in which shares are compared
	fair  float64 // share of them that its weight is worth; 0 when it was not there
}

// counted is what its status tells.
type counted struct {
	protocol.Counters // of a recent time
	life              protocol.Counters
	lately            protocol.Lately
	age               time.Duration // of the calls under way, on average
}

// figures collects what the rules look at.
func (s *service) figures(now time.Time) fleet {
	f := fleet{reference: s.url.ServiceKey(), direct: s.source != s.client.registry, now: now}
	_, f.recent = new(protocol.Status).Recent(now)
	arguments := s.methods.arguments()
	for slot, name := range s.methods.table.Names() {
		some, known := arguments[slot]
		balance, sticky := s.cluster.Chooses(slot)
		f.methods = append(f.methods, methodFigures{name: name, balance: balance, sticky: sticky, bare: known && !some})
	}
	nodes := s.directory.List().Candidates.Nodes()
	for _, n := range nodes {
		life := n.Life()
		p := figuresOf(n, life)
		p.ejection = s.cluster.Ejection(n)
		f.providers = append(f.providers, p)
		all := count(life, len(f.methods), now)
		for slot := range f.methods {
			m, view := &f.methods[slot], n.Method(slot)
			p.actives, p.told = view.Actives, n.URL().MethodParam(m.name, "actives") != ""
			p.timeout, p.counted = view.Timeout, all[slot]
			m.providers = append(m.providers, p)
		}
	}
	s.steady.share(&f, nodes)
	return f
}

// figuresOf returns what is not about a method.
func figuresOf(n *protocol.Node, life *protocol.Life) providerFigures {
	general, _ := url.CompileMethod(n.URL(), "")
	p := providerFigures{
		address: n.Address(), warmup: general.Warmup, unweighed: unweighed(general.LoadBalance),
		start: life.Start, since: life.Since, down: n.State() == protocol.Down,
	}
	if ms, ok := n.URL().StartTime(); ok {
		p.stamp = time.UnixMilli(ms)
	}
	if !life.Start.IsZero() {
		p.warm = life.Start.Add(general.Warmup)
	}
	return p
}

// count reads the statuses of a life, by slot.
func count(life *protocol.Life, slots int, now time.Time) []counted {
	all := make([]counted, slots)
	for slot := range all {
		all[slot].lately.Value = -1 // none, unless its status knows
	}
	for slot, status := range life.Statuses {
		if slot < slots {
			c := &all[slot]
			c.Counters, _ = status.Recent(now)
			c.life, c.lately = status.Counters(), status.Lately(now)
			_, c.age = status.UnderWay(now)
		}
	}
	return all
}

// diagnose applies the rules, and returns what they find in the order of the rules.
func diagnose(f fleet) []Finding {
	for i := range f.methods {
		m := &f.methods[i]
		m.sorted, m.tried = m.means(-1, enoughCalls), m.means(-1, 1)
	}
	f.ailing, f.blamed = f.ailments(), map[blame]bool{}
	var out []Finding
	for _, rule := range rules {
		for _, found := range rule(f) {
			found.Reference = f.reference
			out = append(out, found)
			if len(found.Providers) == 0 {
				f.blamed[blame{}] = true
			}
			for _, p := range found.Providers {
				f.blamed[blame{found.Method, p}], f.blamed[blame{"", p}] = true, true
			}
		}
	}
	return out
}
