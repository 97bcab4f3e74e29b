package loadbalance_test

import (
	"container/heap"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
)

// callers make one call after another each, in virtual time.
type callers struct {
	*fleet
	lb      loadbalance.LoadBalance
	list    *protocol.Candidates
	number  int
	timeout time.Duration                                 // of the calls, set by the callers; 0: none
	think   time.Duration                                 // between two calls of a caller
	hurry   time.Duration                                 // after which each tenth call is given up; 0: never
	cancel  bool                                          // who gives up does so by cancelling
	serve   func(i int) (time.Duration, protocol.Verdict) // what the provider of an index does
	err     func(i int) error                             // what the provider of an index answers with; nil: values
	load    []string                                      // the reports of the providers

	expected []float64 // when not nil, the sum of the chances that each had

	events  events
	calls   int
	counts  []int
	longest []time.Duration // that a provider was left alone
}

// run goes on for some time.
func (s *callers) run(t *testing.T, d time.Duration) {
	begin := s.clock.now()
	latest := make([]time.Time, len(s.nodes))
	for i := range latest {
		latest[i] = begin
	}
	s.counts, s.longest = make([]int, len(s.nodes)), make([]time.Duration, len(s.nodes))
	var call func()
	call = func() {
		var x loadbalance.Explanation
		inv := s.call()
		inv.Start = s.clock.now()
		if s.expected != nil {
			x = s.lb.(loadbalance.Explainer).Explain(s.list, inv)
			for i, c := range x.Candidates {
				s.expected[i] += c.Chance
			}
		}
		i := s.index(t, s.lb.Select(s.list, inv))
		if s.expected != nil {
			require.Positive(t, x.Candidates[i].Chance)
		}
		s.counts[i]++
		s.longest[i] = max(s.longest[i], inv.Start.Sub(latest[i]))
		latest[i] = inv.Start
		took, verdict := s.serve(i)
		inv.Timeout = s.timeout
		patience := s.timeout
		if s.calls++; s.calls%10 == 0 && s.hurry > 0 {
			patience = s.hurry
		}
		if patience > 0 && took > patience {
			took, verdict = patience, protocol.TimedOut
			if s.cancel {
				verdict = protocol.Neutral
			}
		}
		var err error
		switch {
		case verdict == protocol.Neutral:
			err = &protocol.Error{Code: protocol.ErrCanceled, Sent: true}
		case s.err != nil:
			err = s.err(i)
		}
		end := s.attemptThat(s.lb, s.nodes[i], inv, err)
		heap.Push(&s.events, event{inv.Start.Add(took), func() {
			if s.load != nil && verdict == protocol.Succeeded {
				inv.Result.Attachments = map[string]any{reportKey: load(s.load[i])}
			}
			end(took, verdict)
			heap.Push(&s.events, event{s.clock.now().Add(s.think), call})
		}})
	}
	if len(s.events) == 0 {
		for range s.number {
			call()
		}
	}
	for len(s.events) > 0 && s.events[0].at.Sub(begin) <= d {
		e := heap.Pop(&s.events).(event)
		s.clock.ns.Store(e.at.UnixNano())
		e.do()
	}
	s.clock.ns.Store(begin.Add(d).UnixNano())
	for i := range latest {
		s.longest[i] = max(s.longest[i], s.clock.now().Sub(latest[i]))
	}
}

// callers calls the providers of the providers of the fleet, which take around so many ms.
func (f *fleet) callers(lb loadbalance.LoadBalance, number int, rand func() uint64, ms ...float64) *callers {
	return &callers{fleet: f, lb: lb, list: f.list(), number: number, serve: func(i int) (time.Duration, protocol.Verdict) {
		jitter := 0.8 + 0.4*float64(rand()>>11)/(1<<53)
		return time.Duration(ms[i] * jitter * float64(time.Millisecond)), protocol.Succeeded
	}}
}
