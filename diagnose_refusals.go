package gofer

import (
	"fmt"
	"time"
)

// refusals finds providers that refuse many calls for a limit of their own.
func refusals(_ fleet, m methodFigures) []Finding {
	var refusing []providerFigures
	called := 0
	for _, p := range m.providers {
		if p.Total > 0 {
			called++
		}
		if p.refuses() {
			refusing = append(refusing, p)
		}
	}
	if len(refusing) > 0 && len(refusing) == called {
		return []Finding{refusedBy("they did not run, and nobody was left to take them",
			"There are too few providers, or their executes or threads are too low: add some, or raise the limits", refusing...)}
	}
	var out []Finding
	for _, p := range refusing {
		out = append(out, refusedBy("they did not run and were tried elsewhere",
			"Raise its executes or threads, give it a smaller weight, or set actives to what it bears for each consumer", p))
	}
	return out
}

// refuses reports whether many calls were refused, or all lately: whoever looks at latency
// sends few there then.
func (p providerFigures) refuses() bool {
	row := tally{bad: p.Refused, row: p.lately.Refusing}
	return p.Refused >= enoughCalls && float64(p.Refused) >= refusedShare*float64(p.Total) || row.lately()
}

// refusedBy is the finding about some of them.
func refusedBy(effect, remedy string, all ...providerFigures) Finding {
	found := Finding{Kind: FindingRefusals, Remedy: remedy}
	var refused, total int64
	var took time.Duration
	for _, p := range all {
		found.Providers = append(found.Providers, p.address)
		refused, total, took = refused+p.Refused, total+p.Total, took+p.RefusedElapsed
	}
	who := "refuses"
	if len(all) > 1 {
		who = "refuse"
	}
	found.Text = fmt.Sprintf("%s %d of %d calls for a limit of its own (executes, threads), after %s on average; %s",
		who, refused, total, short(took/time.Duration(refused)), effect)
	return found
}
