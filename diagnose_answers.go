package gofer

import (
	"fmt"
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// exceptions finds providers that answer with exceptions, or uselessly, where their
// peers answer with values: whoever ejects or balances takes an answer for a good sign.
func exceptions(_ fleet, m methodFigures) []Finding {
	found := m.unlike(func(p providerFigures) tally {
		answers, _ := p.Answers()
		return tally{
			all: answers + p.Useless, bad: p.Exceptions + p.Useless,
			took: p.ExceptionsElapsed + p.UselessElapsed, row: p.lately.Worthless,
		}
	})
	var out []Finding
	for _, x := range found {
		p := m.providers[x.i]
		what, remedy := "an exception", "Look at its log and at what it depends on, such as its database"
		effect := "neither outlier ejection nor a load balancer keeps calls away from it"
		switch {
		case p.Exceptions == 0:
			what, remedy = "an error about the call (unreadable, no such method)", "Compare its version of the interface and of the classes with the others'"
			effect = "outlier ejection leaves it in"
		case p.Useless > 0:
			what = "an exception or an error about the call"
		}
		out = append(out, Finding{
			Kind: FindingExceptions, Providers: []string{p.address},
			Text: fmt.Sprintf("%d of %d answers were %s, after %s on average%s, where of its peers' %d of %d were",
				x.bad, x.all, what, short(x.took/time.Duration(x.bad)), x.now(), x.rest.bad, x.rest.all),
			Remedy: remedy + "; take it out with disabled=true or weight=0: these are answers, so " + effect,
		})
	}
	return out
}

// unanswered finds providers that leave calls unanswered until their callers give up,
// sooner than the method's timeout, where their peers answer.
func unanswered(_ fleet, m methodFigures) []Finding {
	found := m.unlike(func(p providerFigures) tally {
		return tally{all: p.Total - p.OneWay, bad: p.GivenUp, took: p.GivenUpElapsed, row: p.lately.Unanswered}
	})
	var out []Finding
	for _, x := range found {
		p := m.providers[x.i]
		answer := ""
		if others, known := m.medianOfOthers(x.i); known {
			answer = fmt.Sprintf(", which answer in %s,", short(others))
		}
		out = append(out, Finding{
			Kind: FindingUnanswered, Providers: []string{p.address},
			Text: fmt.Sprintf("the callers of %d of %d calls gave up without an answer, after %s on average%s, where at its peers%s those of %d of %d did",
				x.bad, x.all, short(x.took/time.Duration(x.bad)), x.now(), answer, x.rest.bad, x.rest.all),
			Remedy: fmt.Sprintf("Look at what its threads wait for; let the method's timeout, %s, be what callers wait, so that these count as its timeouts, and leave outlier ejection on (outlier=true)", p.timeout),
		})
	}
	return out
}

// tally is how many calls of a provider ended badly, in one way.
type tally struct {
	all, bad int64
	took     time.Duration // all of the bad ones
	row      protocol.Row
}

// most reports whether most of many calls ended badly.
func (t tally) most() bool {
	return t.all >= enoughCalls && float64(t.bad) >= badShare*float64(t.all)
}

// lately reports whether all have done so lately.
func (t tally) lately() bool { return t.row.Calls >= badRow && t.row.For >= badRowLeast }

// odd is a provider that does much worse than its peers.
type odd struct {
	i int // of the provider
	tally
	rest tally // of its peers
}

// now tells of the row, if there is one.
func (x odd) now() string {
	if !x.lately() {
		return ""
	}
	return fmt.Sprintf(" (the latest %d in a row, for %s)", x.row.Calls, short(x.row.For))
}

// unlike returns the providers most of whose calls end badly, or have done so lately
// without an exception, while few of those at their peers do. If all are alike it is
// the calls, or something that all depend on.
func (m methodFigures) unlike(count func(providerFigures) tally) []odd {
	var out []odd
	var rest tally
	value := time.Duration(-1) // how long ago a peer has brought one
	for i, p := range m.providers {
		t := count(p)
		if t.most() || t.lately() {
			out = append(out, odd{i: i, tally: t})
			continue
		}
		rest.all, rest.bad = rest.all+t.all, rest.bad+t.bad
		if v := p.lately.Value; v >= 0 && (value < 0 || v < value) {
			value = v
		}
	}
	if rest.all < enoughCalls || float64(rest.bad) > goodShare*float64(rest.all) || value < 0 {
		return nil
	}
	out = slices.DeleteFunc(out, func(x odd) bool {
		meanwhile := x.lately() && value <= x.row.For-badRowLeast // or it may be all of them by now
		return !meanwhile && (m.sticky || !x.most())
	})
	for i := range out {
		out[i].rest = rest
	}
	return out
}

// failsFast finds providers whose failures come sooner than the answers of others:
// whoever counts calls under way, or only times answers, sends them more (F4). Calls
// that fail everywhere, because their callers give up, are no provider's.
func failsFast(_ fleet, m methodFigures) []Finding {
	var out []Finding
	var failed, total int64
	for _, p := range m.providers {
		calls, _ := p.broke()
		failed, total = failed+calls, total+p.Total
	}
	for i, p := range m.providers {
		own, mean := p.broke()
		share := float64(own) / float64(max(1, p.Total))
		rest := float64(failed-own) / float64(max(1, total-p.Total))
		if p.Total < enoughCalls || share < failingShare || share < failingFactor*rest {
			continue
		}
		others, known := m.medianOfOthers(i)
		if !known || mean*2 > others {
			continue
		}
		effect, remedy := "does not see that", ", and prefer loadbalance=leastload, which charges a failure"
		switch {
		case m.balance == "consistenthash":
			remedy = ", and prefer loadbalance=ringload, which charges a failure"
		case m.balance == "leastactive":
			effect = "leaves it its share (Java consumers take it for idle)"
		case slices.Contains(latencyAware, m.balance):
			effect, remedy = "charges that, callers see it all the same", ""
		case !slices.Contains(blind, m.balance):
			effect = "may take it for idle"
		}
		out = append(out, Finding{
			Kind: FindingFailsFast, Providers: []string{p.address},
			Text: fmt.Sprintf("%d of %d calls failed, after %s on average, where the others answer in %s; it has %s of all calls: loadbalance=%s %s",
				own, p.Total, short(mean), short(others), percent(float64(p.Total)/float64(total)), m.balance, effect),
			Remedy: "Repair or take out the provider; leave outlier ejection on (outlier=true)" + remedy,
		})
	}
	return out
}

// broke returns how many calls have failed of which nothing better is known, and
// their mean duration: no answer of the provider's, and no impatience of its callers.
func (p providerFigures) broke() (calls int64, mean time.Duration) {
	calls = p.Failed - p.Useless - p.Refused - p.GivenUp
	mean = p.FailedElapsed - p.UselessElapsed - p.RefusedElapsed - p.GivenUpElapsed
	return calls, mean / time.Duration(max(1, calls))
}

// refusals finds providers that refuse many calls for a limit of their own.
func refusals(_ fleet, m methodFigures) []Finding {
	var out []Finding
	for _, p := range m.providers {
		if p.Refused < enoughCalls || float64(p.Refused) < refusedShare*float64(p.Total) {
			continue
		}
		out = append(out, Finding{
			Kind: FindingRefusals, Providers: []string{p.address},
			Text: fmt.Sprintf("refuses %d of %d calls for a limit of its own (executes, threads), after %s on average; they did not run and were tried elsewhere",
				p.Refused, p.Total, short(p.RefusedElapsed/time.Duration(p.Refused))),
			Remedy: "Raise its executes or threads, give it a smaller weight, or set actives to what it bears for each consumer; where all providers refuse, there are too few",
		})
	}
	return out
}
