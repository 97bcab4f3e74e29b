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
		remedy += "; take it out with disabled=true or weight=0: these are answers, so " + effect
		if m.keyed() {
			remedy = keyRemedy
		}
		out = append(out, Finding{
			Kind: FindingExceptions, Providers: []string{p.address},
			Text: fmt.Sprintf("%d of %d answers were %s, after %s on average%s, where of its peers' %d of %d were%s",
				x.bad, x.all, what, short(x.took/time.Duration(x.bad)), x.now(), x.rest.bad, x.rest.all, m.byKey()),
			Remedy: remedy,
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
		remedy := fmt.Sprintf("Look at what its threads wait for; let the method's timeout, %s, be what callers wait, so that these count as its timeouts, and leave outlier ejection on (outlier=true)", p.timeout)
		if m.keyed() {
			remedy = keyRemedy
		}
		out = append(out, Finding{
			Kind: FindingUnanswered, Providers: []string{p.address},
			Text: fmt.Sprintf("the callers of %d of %d calls gave up without an answer, after %s on average%s, where at its peers%s those of %d of %d did%s",
				x.bad, x.all, short(x.took/time.Duration(x.bad)), x.now(), answer, x.rest.bad, x.rest.all, m.byKey()),
			Remedy: remedy,
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
func (t tally) lately() bool { return t.bad > 0 && t.row.Calls >= badRow && t.row.For >= badRowLeast }

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
	if rest.all < badRow || float64(rest.bad) > goodShare*float64(rest.all) || value < 0 {
		return nil
	}
	out = slices.DeleteFunc(out, func(x odd) bool {
		meanwhile := x.lately() && value <= x.row.For-badRowLeast // or it may be all of them by now
		return !meanwhile && (m.sticky || !x.most() || rest.all < enoughCalls)
	})
	for i := range out {
		out[i].rest = rest
	}
	return out
}
