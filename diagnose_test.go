package gofer

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/protocol"
)

var diagnosed = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// well returns a provider that has been called for 100 s, 10 calls of 10 ms a second.
func well(address string) providerFigures {
	return providerFigures{
		address: address, actives: 5, warmup: 10 * time.Minute,
		stamp: diagnosed.Add(-time.Hour), start: diagnosed.Add(-time.Hour), since: diagnosed.Add(-100 * time.Second), timeout: time.Second,
		counted: counted{Counters: protocol.Counters{Total: 1000, Elapsed: 10 * time.Second, MaxElapsed: 30 * time.Millisecond}}, calls: 1000, fair: 1.0 / 3,
	}
}

// healthy is a fleet of three providers in which nothing is to be found, with one
// method under that strategy.
func healthy(balance string) fleet {
	all := []providerFigures{well("192.0.2.1:20880"), well("192.0.2.2:20880"), well("192.0.2.3:20880")}
	return fleet{
		providers: slices.Clone(all),
		reference: "com.example.Orders:1.0.0", now: diagnosed,
		methods: []methodFigures{{name: "find", balance: balance, steady: 100 * time.Second, providers: all}},
	}
}

// live makes recent figures those of the lives, where nothing else is said.
func (f *fleet) live() {
	for _, m := range f.methods {
		for i := range m.providers {
			if p := &m.providers[i]; p.life == (protocol.Counters{}) {
				p.life = p.Counters
			}
		}
	}
}

func TestDiagnoseFindsNothingInAHealthyFleet(t *testing.T) {
	for _, balance := range []string{"random", "roundrobin", "leastactive", "shortestresponse", "adaptive", "consistenthash", "leastload", "ringload", "custom"} {
		assert.Empty(t, diagnose(healthy(balance)), balance)
	}
	assert.Empty(t, diagnose(fleet{}))
}

// Each case makes one thing wrong with the healthy fleet; the same thing under another
// strategy, or to a smaller degree, is no finding.
func TestDiagnose(t *testing.T) {
	type provider = *providerFigures
	at := func(i int, spoil func(provider)) func(*fleet) {
		return func(f *fleet) {
			spoil(&f.methods[0].providers[i])
			spoil(&f.providers[i])
		}
	}
	all := func(spoil func(provider)) func(*fleet) {
		return func(f *fleet) {
			for i := range f.methods[0].providers {
				spoil(&f.methods[0].providers[i])
			}
		}
	}
	takes := func(mean time.Duration) func(provider) {
		return func(p provider) { p.Elapsed = time.Duration(p.Total) * mean }
	}
	fails := func(n int64, after time.Duration) func(provider) {
		return func(p provider) {
			p.Failed, p.FailedElapsed = n, time.Duration(n)*after
			p.Elapsed = time.Duration(p.Total-n)*10*time.Millisecond + p.FailedElapsed
		}
	}
	throws := func(n int64) func(provider) {
		return func(p provider) {
			p.Exceptions, p.ExceptionsElapsed = n, time.Duration(n)*time.Millisecond
			p.Elapsed = time.Duration(p.Total-n)*10*time.Millisecond + p.ExceptionsElapsed
		}
	}
	dry := func(calls int64, d, value time.Duration) func(*fleet) { // lately, where the others had a value so long ago
		return func(f *fleet) {
			all(func(p provider) { p.lately.Value = value })(f)
			at(1, func(p provider) {
				throws(calls)(p)
				p.lately = protocol.Lately{Worthless: protocol.Row{Calls: calls, For: d}, Value: d}
			})(f)
		}
	}
	another := func(name string, mean time.Duration) func(*fleet) {
		return func(f *fleet) {
			m := healthy(f.methods[0].balance).methods[0]
			m.name = name
			for i := range m.providers {
				takes(mean)(&m.providers[i])
			}
			f.methods = append(f.methods, m)
		}
	}
	for name, c := range map[string]struct {
		balance string
		spoil   func(*fleet)
		want    FindingKind // "": nothing
		method  string
		at      []string
		texts   []string
	}{
		"fails fast": {"leastactive", at(1, fails(500, time.Millisecond)), FindingFailsFast, "find", []string{"192.0.2.2:20880"},
			[]string{"500 of 1000 calls failed", "after 1ms", "others answer in 10ms", "outlier"}},
		"fails fast in any strategy": {"random", at(1, fails(500, time.Millisecond)), FindingFailsFast, "find", []string{"192.0.2.2:20880"}, nil},
		"fails never":                {"leastactive", at(1, func(p provider) { p.Total, p.Elapsed = 1000, 10*time.Second }), "", "", nil, nil},
		"fails slowly": {"leastactive", at(1, fails(500, 10*time.Millisecond)), FindingFails, "find", []string{"192.0.2.2:20880"},
			[]string{"500 of 1000 calls failed, after 10ms on average, where of its peers' 0 of 2000 did (figures of 1m40s)", "disabled=true", "outlier=true"}},
		"times out": {"random", at(1, fails(500, time.Second)), FindingFails, "find", []string{"192.0.2.2:20880"},
			[]string{"500 of 1000 calls failed, after 1s on average, the whole timeout, where"}},
		"times out, ejected": {"random", at(1, func(p provider) {
			fails(500, time.Second)(p)
			p.ejection = cluster.Ejection{Ejected: true, Trips: 7, LastFailure: errors.New("no answer")}
		}), FindingFails, "find", []string{"192.0.2.2:20880"}, []string{"; the latest failure: no answer; it is ejected"}},
		"fails a little":                  {"random", at(1, fails(190, 20*time.Millisecond)), "", "", nil, nil},
		"fails a few times":               {"random", at(1, func(p provider) { p.Total = 20; fails(9, 20*time.Millisecond)(p) }), "", "", nil, nil},
		"fails, the others a third of it": {"random", func(f *fleet) { all(fails(100, 20*time.Millisecond))(f); at(1, fails(300, 20*time.Millisecond))(f) }, "", "", nil, nil},
		"fails lately": {"random", func(f *fleet) {
			at(1, fails(12, time.Second))(f)
			f.methods[0].providers[1].lately = protocol.Lately{Failing: protocol.Row{Calls: 12, For: 4 * time.Second}}
		}, FindingFails, "find", []string{"192.0.2.2:20880"}, []string{"12 of 1000 calls failed", "(the latest 12 in a row, for 4s)"}},
		"fails lately, the others had no value since": {"random", func(f *fleet) {
			all(func(p provider) { p.lately.Value = 5 * time.Second })(f)
			at(1, fails(12, time.Second))(f)
			f.methods[0].providers[1].lately = protocol.Lately{Failing: protocol.Row{Calls: 12, For: 4 * time.Second}}
		}, "", "", nil, nil},
		"fails lately, down": {"random", func(f *fleet) {
			at(1, fails(12, time.Second))(f)
			p := &f.methods[0].providers[1]
			p.lately, p.down = protocol.Lately{Failing: protocol.Row{Calls: 12, For: 4 * time.Second}}, true
		}, "", "", nil, nil},
		"fails by key": {"ringload", at(1, fails(500, 10*time.Millisecond)), FindingFails, "find", []string{"192.0.2.2:20880"},
			[]string{"calls are placed by their key (loadbalance=ringload), so it may be one key", "Compare the arguments"}},
		"fails fast by key": {"consistenthash", at(1, fails(500, time.Millisecond)), FindingFailsFast, "find", []string{"192.0.2.2:20880"},
			[]string{"it may be one key", "Compare the arguments"}},
		"throws by key":  {"ringload", at(1, throws(600)), FindingExceptions, "find", []string{"192.0.2.2:20880"}, []string{"it may be one key", "Compare the arguments"}},
		"throws, no key": {"ringload", func(f *fleet) { at(1, throws(600))(f); f.methods[0].bare = true }, FindingExceptions, "find", []string{"192.0.2.2:20880"}, []string{"disabled=true"}},
		"ejected": {"random", at(1, func(p provider) {
			p.ejection = cluster.Ejection{Ejected: true, Trips: 3, LastFailure: errors.New("no answer")}
		}), FindingEjected, "", []string{"192.0.2.2:20880"}, []string{"is ejected for the 3rd time in a row", "; the latest failure: no answer", "Repair it"}},
		"ejected once": {"random", at(1, func(p provider) { p.ejection = cluster.Ejection{Ejected: true, Trips: 1} }), "", "", nil, nil},
		"ejected and back": {"random", at(1, func(p provider) {
			p.ejection = cluster.Ejection{Trips: 5, Until: diagnosed.Add(-10 * time.Second)}
		}), "", "", nil, nil},
		"ejected and back, again and again": {"random", at(1, func(p provider) {
			p.ejection = cluster.Ejection{Trips: 12, Until: diagnosed.Add(-10 * time.Second)}
		}), FindingEjected, "", []string{"192.0.2.2:20880"}, []string{"12 times in a row", "was back"}},
		"ejected and back for long": {"random", at(1, func(p provider) {
			p.ejection = cluster.Ejection{Trips: 12, Until: diagnosed.Add(-2 * time.Minute)}
		}), "", "", nil, nil},
		"fails seldom": {"leastactive", at(1, fails(100, time.Millisecond)), "", "", nil, nil},
		"all fail": {"leastactive", all(fails(1000, time.Millisecond)), FindingFailsEverywhere, "find", nil,
			[]string{"3000 of 3000 calls failed, after 1ms on average, at all providers alike: it is not one of them", "such as a database"}},
		"all time out": {"leastactive", func(f *fleet) {
			all(fails(300, time.Second))(f)
			f.methods[0].providers[2].ejection = cluster.Ejection{Ejected: true, Trips: 1}
		}, FindingFailsEverywhere, "find", nil, []string{"after 1s on average, the whole timeout", "1 of 3 are ejected", "find.timeout, now 1s"}},
		"all fail, one more than the others": {"random", func(f *fleet) {
			all(fails(180, 20*time.Millisecond))(f)
			at(1, fails(400, 20*time.Millisecond))(f)
		}, FindingFailsEverywhere, "find", nil, []string{"760 of 3000", "at some more than at others"}},
		"fails, sticky": {"random", func(f *fleet) {
			at(1, fails(800, 10*time.Millisecond))(f)
			f.methods[0].sticky = true
		}, FindingFailsEverywhere, "find", nil, []string{"800 of 3000", "where they stick to (sticky=true)"}},
		"the only one fails": {"leastactive", func(f *fleet) {
			at(0, fails(300, time.Millisecond))(f)
			f.methods[0].providers = f.methods[0].providers[:1]
		}, FindingFailsEverywhere, "find", nil, []string{"at the only provider that had any"}},
		"refused, no failure": {"random", at(1, func(p provider) {
			fails(500, time.Millisecond)(p)
			p.Refused, p.RefusedElapsed = p.Failed, p.FailedElapsed
		}), FindingRefusals, "find", []string{"192.0.2.2:20880"}, []string{"refuses 500 of 1000 calls", "after 1ms", "executes"}},
		"refused now and then": {"random", at(1, func(p provider) {
			fails(150, time.Millisecond)(p)
			p.Refused, p.RefusedElapsed = p.Failed, p.FailedElapsed
		}), "", "", nil, nil},
		"of no use, no failure": {"leastload", at(1, func(p provider) {
			fails(500, time.Millisecond)(p)
			p.Useless, p.UselessElapsed = p.Failed, p.FailedElapsed
		}), FindingExceptions, "find", []string{"192.0.2.2:20880"}, []string{"500 of 1000 answers were an error about the call", "peers' 0 of 2000", "outlier ejection leaves it in"}},
		"given up, no failure": {"leastload", at(1, func(p provider) {
			fails(600, 300*time.Millisecond)(p)
			p.GivenUp, p.GivenUpElapsed = p.Failed, p.FailedElapsed
		}), FindingUnanswered, "find", []string{"192.0.2.2:20880"}, []string{"the callers of 600 of 1000 calls gave up", "after 300ms on average,", "peers, which answer in 10ms, those of 0 of 2000 did"}},
		"throws":                           {"random", at(1, throws(600)), FindingExceptions, "find", []string{"192.0.2.2:20880"}, []string{"600 of 1000 answers were an exception, after 1ms on average, where of its peers' 0 of 2000 were"}},
		"throws less than half":            {"random", at(1, throws(400)), "", "", nil, nil},
		"all throw":                        {"random", all(throws(900)), "", "", nil, nil},
		"throws, the others some":          {"random", func(f *fleet) { all(throws(200))(f); at(1, throws(900))(f) }, "", "", nil, nil},
		"throws lately":                    {"random", dry(10, time.Minute, 0), FindingExceptions, "find", []string{"192.0.2.2:20880"}, []string{"10 of 1000", "(the latest 10 in a row, for 1m0s)"}},
		"throws a few times":               {"random", dry(9, time.Minute, 0), "", "", nil, nil},
		"throws for a moment":              {"random", dry(50, time.Second, 0), "", "", nil, nil},
		"throws since others had no value": {"random", dry(50, time.Minute, 59*time.Second), "", "", nil, nil},
		"throws, others never had a value": {"random", dry(50, time.Minute, -1), "", "", nil, nil},
		"throws, sticky":                   {"random", func(f *fleet) { at(1, throws(600))(f); f.methods[0].sticky = true }, "", "", nil, nil},
		"slow under random":                {"random", at(2, takes(40*time.Millisecond)), FindingSlowProvider, "find", []string{"192.0.2.3:20880"}, []string{"40ms", "10ms", "pile up", "leastload"}},
		"slow under roundrobin":            {"roundrobin", at(2, takes(40*time.Millisecond)), FindingSlowProvider, "find", []string{"192.0.2.3:20880"}, nil},
		"slow under leastactive":           {"leastactive", at(2, takes(40*time.Millisecond)), FindingSlowProvider, "find", []string{"192.0.2.3:20880"}, []string{"under way"}},
		"slow under leastload":             {"leastload", at(2, takes(40*time.Millisecond)), "", "", nil, nil},
		"a little slower":                  {"random", at(2, takes(20*time.Millisecond)), "", "", nil, nil},
		"slow by a few calls":              {"random", at(2, func(p provider) { takes(40 * time.Millisecond)(p); p.MaxElapsed = 4 * time.Second }), "", "", nil, nil},
		"slow, but few calls":              {"random", at(2, func(p provider) { p.Total, p.Elapsed = 20, 2*time.Second }), "", "", nil, nil},
		"fails like the others":            {"leastactive", all(fails(300, time.Millisecond)), FindingFailsEverywhere, "find", nil, []string{"900 of 3000"}},
		"callers give up everywhere": {"leastactive", all(func(p provider) {
			fails(300, time.Millisecond)(p)
			p.GivenUp, p.GivenUpElapsed = p.Failed, p.FailedElapsed
		}), "", "", nil, nil},
		"fails, draws":              {"leastactive", at(1, func(p provider) { p.Total = 4000; fails(3900, time.Millisecond)(p) }), FindingFailsFast, "find", []string{"192.0.2.2:20880"}, []string{"67 % of all calls: loadbalance=leastactive leaves it its share", "leastload"}},
		"fails, seen":               {"leastload", at(1, fails(500, time.Millisecond)), FindingFailsFast, "find", []string{"192.0.2.2:20880"}, []string{"charges that", "(outlier=true)"}},
		"slow under consistenthash": {"consistenthash", at(2, takes(40*time.Millisecond)), FindingSlowProvider, "find", []string{"192.0.2.3:20880"}, []string{"its keys", "ringload"}},
		"slow under another":        {"custom", at(2, takes(40*time.Millisecond)), FindingSlowProvider, "find", []string{"192.0.2.3:20880"}, []string{"custom may not look"}},
		"more than its weight":      {"random", at(0, func(p provider) { p.calls = 4000 }), FindingOverShare, "find", []string{"192.0.2.1:20880"}, []string{"67 %", "33 %", "for 1m40s", "loadbalance=random"}},
		"hot keys":                  {"consistenthash", at(0, func(p provider) { p.calls = 4000 }), FindingOverShare, "find", []string{"192.0.2.1:20880"}, []string{"ringload"}},
		"more, for it is faster":    {"leastload", at(0, func(p provider) { p.calls, p.Total, p.Elapsed = 4000, 4000, 8*time.Second }), "", "", nil, nil},
		"more, for it is as fast":   {"leastload", at(0, func(p provider) { p.calls = 4000 }), "", "", nil, nil},
		"more, for others are slow": {"leastload", func(f *fleet) {
			p := f.methods[0].providers
			p[0].calls = 4000
			for i := 1; i < 3; i++ {
				p[i].calls, p[i].Total, p[i].Elapsed = 3, 3, 60*time.Millisecond
			}
		}, "", "", nil, nil},
		"more, though it is slow": {"leastload", at(0, func(p provider) { p.calls = 4000; takes(20 * time.Millisecond)(p) }), FindingOverShare, "find", []string{"192.0.2.1:20880"}, nil},
		"as much as its weight":   {"random", at(0, func(p provider) { p.calls, p.fair = 4000, 2.0/3 }), "", "", nil, nil},
		"more for its first minute": {"random", func(f *fleet) {
			p := f.methods[0].providers
			p[0].calls, p[0].fair, p[1].fair, p[2].fair = 4000, 0, 0.5, 0.5
		}, "", "", nil, nil},
		"sticky": {"random", func(f *fleet) { f.methods[0].sticky = true; f.methods[0].providers[0].calls = 4000 }, "", "", nil, nil},
		"do not return": {"leastactive", at(1, func(p provider) { p.Active, p.age = 12, time.Minute }), FindingStuckCalls, "find", []string{"192.0.2.2:20880"},
			[]string{"12 calls have been under way for 1m0s on average", "calls take 10ms"}},
		"have never returned": {"leastactive", func(f *fleet) {
			p := f.methods[0].providers[1]
			p.Counters, p.calls, p.age = protocol.Counters{Active: 3}, 3, 11*time.Second
			f.methods[0].providers = []providerFigures{p}
		}, FindingStuckCalls, "find", []string{"192.0.2.2:20880"}, []string{"3 calls have been under way for 11s", "the timeout is 1s and none"}},
		"a burst":               {"leastactive", at(1, func(p provider) { p.Active, p.age = 1200, 9*time.Second }), "", "", nil, nil},
		"two that take long":    {"leastactive", at(1, func(p provider) { p.Active, p.age = 2, time.Hour }), "", "", nil, nil},
		"no longer than before": {"leastactive", at(1, func(p provider) { p.Active, p.age, p.life.MaxAnswered = 12, time.Minute, 2*time.Minute }), "", "", nil, nil},
		"no longer than before, elsewhere, after a failure": {"leastactive", func(f *fleet) {
			at(1, func(p provider) { p.Active, p.age, p.Failed, p.FailedElapsed = 12, time.Minute, 1, time.Millisecond })(f)
			f.methods[0].providers[0].life.MaxAnswered = 2 * time.Minute
		}, "", "", nil, nil},
		"do not return, no answer of late": {"leastactive", at(1, func(p provider) {
			p.Active, p.age, p.life, p.Counters.Total = 12, time.Minute, p.Counters, 0
		}), FindingStuckCalls, "find", []string{"192.0.2.2:20880"}, []string{"calls take 10ms"}},
		"longer than those timed out": {"leastactive", at(1, func(p provider) {
			p.Active, p.age, p.MaxElapsed, p.Failed, p.FailedElapsed = 12, time.Minute, 2*time.Minute, 1, 10*time.Millisecond
		}), FindingStuckCalls, "find", []string{"192.0.2.2:20880"}, nil},
		"take long, as they may": {"leastactive", all(func(p provider) {
			p.Counters, p.calls, p.age, p.timeout = protocol.Counters{Active: 3}, 3, 11*time.Second, time.Minute
		}), "", "", nil, nil},
		"no actives":             {"leastactive", all(func(p provider) { p.actives = 0 }), FindingNoActives, "", nil, []string{"find", "Java", "actives"}},
		"no actives, not needed": {"random", all(func(p provider) { p.actives = 0 }), "", "", nil, nil},
		"no actives at one": {"leastactive", at(0, func(p provider) { p.actives = 0 }), FindingNoActives, "find", []string{"192.0.2.1:20880"},
			[]string{"only others have actives", "at all providers or at none"}},
		"no actives, as is known": {"leastactive", all(func(p provider) { p.actives, p.told = 0, true }), "", "", nil, nil},
		"slow, as it warms up": {"roundrobin", at(2, func(p provider) { takes(40 * time.Millisecond)(p); p.warm = diagnosed.Add(90 * time.Second) }), FindingSlowProvider, "find", []string{"192.0.2.3:20880"},
			[]string{"it is warming up", "Wait until it is warm, in 1m30s"}},
		"slow, as it was warming up": {"roundrobin", func(f *fleet) {
			f.recent = diagnosed.Add(-6 * time.Minute)
			at(2, func(p provider) { takes(40 * time.Millisecond)(p); p.warm = diagnosed.Add(-90 * time.Second) })(f)
		}, FindingSlowProvider, "find", []string{"192.0.2.3:20880"}, []string{"it was warming up", "Ask again"}},
		"all refuse": {"random", all(func(p provider) {
			fails(500, time.Millisecond)(p)
			p.Refused, p.RefusedElapsed = p.Failed, p.FailedElapsed
		}), FindingRefusals, "find", []string{"192.0.2.1:20880", "192.0.2.2:20880", "192.0.2.3:20880"}, []string{"refuse 1500 of 3000 calls", "nobody was left to take them", "too few providers"}},
		"more than its weight, others are full at times": {"random", func(f *fleet) {
			at(0, func(p provider) { p.calls = 4000 })(f)
			at(1, func(p provider) { p.Full = 1 })(f)
			at(2, func(p provider) { p.Full = 300 })(f)
		}, "", "", nil, nil},
		"more than its weight, though it is full at times": {"random", at(0, func(p provider) { p.calls, p.Full = 4000, 300 }), FindingOverShare, "find", []string{"192.0.2.1:20880"}, []string{"67 %", "33 %"}},
		"mixed methods": {"leastactive", another("export", 2*time.Second), FindingMixedMethods, "", nil, []string{"export takes 2s", "find 10ms"}},
		"mixed with one-way": {"leastactive", func(f *fleet) {
			another("notify", 0)(f)
			for i := range f.methods[1].providers {
				f.methods[1].providers[i].OneWay = 1000
			}
		}, "", "", nil, nil},
		"none has ended": {"leastactive", func(f *fleet) {
			another("export", time.Millisecond)(f)
			for i := range f.methods[0].providers {
				p := &f.methods[0].providers[i]
				p.Counters, p.calls, p.age, p.timeout = protocol.Counters{Active: 1}, 1, 10*time.Minute, 2*time.Hour
			}
		}, FindingStuckCalls, "find", []string{"192.0.2.1:20880", "192.0.2.2:20880", "192.0.2.3:20880"},
			[]string{"3 calls have been under way for 10m0s on average and none of this method has ever ended, where calls of export take 1ms; its timeout is 2h0m0s"}},
		"none has ended, others are long": {"leastload", func(f *fleet) {
			another("export", time.Minute)(f)
			all(func(p provider) {
				p.Counters, p.calls, p.age, p.timeout = protocol.Counters{Active: 1}, 1, 10*time.Minute, 2*time.Hour
			})(&fleet{methods: f.methods[:1]})
		}, "", "", nil, nil},
		"hot keys, nearly even": {"consistenthash", at(0, func(p provider) { p.calls = 3500 }), "", "", nil, nil},
		"weights on a ring": {"consistenthash", func(f *fleet) {
			for i, fair := range []float64{0.02, 0.2, 0.78} {
				f.methods[0].providers[i].fair = fair
			}
		}, "", "", nil, nil},
		"no arguments": {"consistenthash", func(f *fleet) {
			at(0, func(p provider) { p.calls = 40_000 })(f)
			f.methods[0].bare = true
		}, FindingOverShare, "find", []string{"192.0.2.1:20880"}, []string{"an equal share is 33 %", "find.loadbalance=leastload"}},
		"more for a moment": {"random", func(f *fleet) {
			at(0, func(p provider) { p.calls = 4000 })(f)
			f.methods[0].steady = time.Second
		}, "", "", nil, nil},
		"more under way": {"random", at(0, func(p provider) { p.calls, p.Active = 4000, 3990 }), "", "", nil, nil},
		"more, for one fails": {"leastload", func(f *fleet) {
			at(0, func(p provider) { p.calls, p.Total, p.Failed = 3, 3, 3 })(f)
			at(1, func(p provider) { p.calls = 900; takes(10 * time.Millisecond)(p) })(f)
			at(2, func(p provider) { p.calls = 1000; takes(12 * time.Millisecond)(p) })(f)
		}, "", "", nil, nil},
		"more, for one has failed once": {"leastload", func(f *fleet) {
			at(0, func(p provider) { p.calls, p.Total, p.Failed = 1, 1, 1 })(f)
			at(1, func(p provider) { p.calls = 1010; takes(12 * time.Millisecond)(p) })(f)
		}, "", "", nil, nil},
		"more by chance, one of many": {"random", func(f *fleet) {
			p := &f.methods[0].providers
			for len(*p) < 30 {
				*p = append(*p, well(fmt.Sprint(len(*p))))
			}
			for i := range *p {
				(*p)[i].calls, (*p)[i].fair = 50, 1.0/30
			}
			(*p)[7].calls = 90
		}, "", "", nil, nil},
		"methods alike":              {"leastactive", another("export", 100*time.Millisecond), "", "", nil, nil},
		"mixed under leastload":      {"leastload", another("export", 2*time.Second), "", "", nil, nil},
		"no timestamp":               {"random", at(1, func(p provider) { p.stamp = time.Time{} }), FindingNoWarmup, "", []string{"192.0.2.2:20880"}, []string{"timestamp"}},
		"no timestamp, no warm-up":   {"random", at(1, func(p provider) { p.stamp, p.warmup = time.Time{}, 0 }), "", "", nil, nil},
		"no timestamp, no registry":  {"random", func(f *fleet) { f.direct = true; f.providers[1].stamp = time.Time{} }, "", "", nil, nil},
		"no timestamp, no weights":   {"consistenthash", at(1, func(p provider) { p.stamp, p.unweighed = time.Time{}, true }), "", "", nil, nil},
		"no timestamp, some weights": {"random", at(1, func(p provider) { p.stamp, p.unweighed = time.Time{}, true }), FindingNoWarmup, "", []string{"192.0.2.2:20880"}, nil},
		"clock ahead":                {"random", at(1, func(p provider) { p.stamp = p.since.Add(time.Minute) }), FindingClockSkew, "", []string{"192.0.2.2:20880"}, []string{"1m0s", "ahead"}},
		"clock behind":               {"random", at(1, func(p provider) { p.stamp = p.start.Add(-time.Hour) }), FindingClockSkew, "", []string{"192.0.2.2:20880"}, []string{"1h0m0s before", "behind", "on purpose"}},
		"registered a little later":  {"random", at(1, func(p provider) { p.stamp = p.start.Add(-50 * time.Second) }), "", "", nil, nil},
		"clock a little ahead":       {"random", at(1, func(p provider) { p.stamp = p.since.Add(time.Second) }), "", "", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(c.balance)
			c.spoil(&f)
			f.live()
			found := diagnose(f)
			if c.want == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			one := found[0]
			assert.Equal(t, c.want, one.Kind)
			assert.Equal(t, "com.example.Orders:1.0.0", one.Reference)
			assert.Equal(t, c.method, one.Method)
			assert.Equal(t, c.at, one.Providers)
			assert.NotEmpty(t, one.Remedy)
			for _, text := range c.texts {
				assert.Contains(t, one.String(), text)
			}
		})
	}
}
