package gofer

import (
	"fmt"
	"slices"
	"time"
)

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
		remedy = "Repair or take out the provider; leave outlier ejection on (outlier=true)" + remedy
		if m.keyed() {
			remedy = keyRemedy
		}
		out = append(out, Finding{
			Kind: FindingFailsFast, Providers: []string{p.address},
			Text: fmt.Sprintf("%d of %d calls failed, after %s on average, where the others answer in %s; it has %s of all calls: loadbalance=%s %s%s",
				own, p.Total, short(mean), short(others), percent(float64(p.Total)/float64(total)), m.balance, effect, m.byKey()),
			Remedy: remedy,
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

// fails finds providers that fail far more calls than the others, however long that
// takes, and methods that fail everywhere.
func fails(f fleet, m methodFigures) []Finding {
	var bad []odd
	var rest tally
	value := time.Duration(-1) // how long ago one of the others has brought one
	for i, p := range m.providers {
		calls, mean := p.broke()
		t := tally{all: p.Total - p.OneWay, bad: calls, took: mean * time.Duration(calls), row: p.lately.Failing}
		switch {
		case f.blamed[blame{m.name, p.address}]: // something better is known of it
		case t.failing(), t.lately() && !p.down:
			bad = append(bad, odd{i: i, tally: t})
		case p.ejection.Until.After(f.recent): // no witness: it had few calls while the others failed
		default:
			rest.all, rest.bad = rest.all+t.all, rest.bad+t.bad
			if v := p.lately.Value; v >= 0 && (value < 0 || v < value) {
				value = v
			}
		}
	}
	var out []Finding
	alike := rest
	for _, x := range bad {
		alike.all, alike.bad, alike.took = alike.all+x.all, alike.bad+x.bad, alike.took+x.took
		often := x.failing() && rest.all >= badRow && x.share() >= failsFactor*rest.share()
		row := x.lately() && rest.all >= badRow && rest.share() <= goodShare && value >= 0 && value <= x.row.For
		if x.rest = rest; often && !m.sticky || row {
			out = append(out, m.fails(x))
		}
	}
	if len(bad) > 0 && len(out) == 0 && alike.failing() {
		out = append(out, m.failsEverywhere(f, alike))
	}
	return out
}

// share is that of the bad ones.
func (t tally) share() float64 { return float64(t.bad) / float64(max(1, t.all)) }

// failing reports whether many calls ended badly.
func (t tally) failing() bool { return t.bad >= failsLeast && t.share() >= failingShare }

// fails is the finding about one provider.
func (m methodFigures) fails(x odd) Finding {
	p := m.providers[x.i]
	remedy := "Repair it, or take it out with disabled=true or weight=0; leave outlier ejection on (outlier=true), which keeps calls away meanwhile"
	out := ""
	switch {
	case m.keyed():
		remedy = keyRemedy
	case p.ejection.Ejected:
		out = fmt.Sprintf("; it is ejected for the %s time in a row, and tried with one call now and then", ordinal(p.ejection.Trips))
		remedy = "Repair it, or take it out with disabled=true or weight=0: until then each trial is a call that fails, or is repeated elsewhere"
	}
	return Finding{
		Kind: FindingFails, Providers: []string{p.address},
		Text: fmt.Sprintf("%d of %d calls failed, after %s on average%s%s, where of its peers' %d of %d did%s%s%s",
			x.bad, x.all, short(x.mean()), x.inFull(p.timeout), x.now(), x.rest.bad, x.rest.all, p.latestFailure(), out, m.byKey()),
		Remedy: remedy,
	}
}

// failsEverywhere is the finding about a method.
func (m methodFigures) failsEverywhere(f fleet, t tally) Finding {
	where, remedy := m.whereFails(f), "Look at what the errors say, and at what all of them depend on, such as a database"
	var timeout time.Duration
	ejected := 0
	for _, p := range m.providers {
		if p.ejection.Ejected {
			ejected++
		}
		timeout = max(timeout, p.timeout)
	}
	late := t.inFull(timeout)
	if late != "" {
		remedy = fmt.Sprintf("Give the method more time if it needs that (%s.timeout, now %s); else look at what its calls wait for at the provider", m.name, timeout)
	}
	if ejected > 0 {
		where += fmt.Sprintf("; %d of %d are ejected for failures, for other methods, too", ejected, len(m.providers))
	}
	return Finding{
		Kind:   FindingFailsEverywhere,
		Text:   fmt.Sprintf("%d of %d calls failed, after %s on average%s, %s%s", t.bad, t.all, short(t.mean()), late, where, m.byKey()),
		Remedy: remedy,
	}
}

// whereFails tells how evenly a method fails, at those that were not ejected meanwhile.
func (m methodFigures) whereFails(f fleet) string {
	called, least, most := 0, 1.0, 0.0
	for _, p := range m.providers {
		if p.Total == 0 {
			continue
		}
		called++
		if calls, _ := p.broke(); !p.ejection.Until.After(f.recent) {
			share := float64(calls) / float64(p.Total)
			least, most = min(least, share), max(most, share)
		}
	}
	switch {
	case called == 1:
		return "at the only provider that had any"
	case m.sticky:
		return "where they stick to (sticky=true), so this may be the provider or all of them"
	case most > failingFactor*least:
		return "at all providers, though at some more than at others"
	}
	return "at all providers alike: it is not one of them"
}

func (t tally) mean() time.Duration { return t.took / time.Duration(max(1, t.bad)) }

// inFull tells of timeouts that have passed in full.
func (t tally) inFull(timeout time.Duration) string {
	if timeout <= 0 || t.mean() < timeout-timeout/10 {
		return ""
	}
	return ", the whole timeout"
}

// latestFailure tells what outlier ejection knows.
func (p providerFigures) latestFailure() string {
	if p.ejection.LastFailure == nil {
		return ""
	}
	const most = 300
	text := []rune(p.ejection.LastFailure.Error())
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return "; the latest failure: " + string(text)
}

// ejected finds providers that are ejected again and again, if no other rule tells of them
// or of a method that fails everywhere.
func ejected(f fleet) []Finding {
	if f.blamed[blame{}] {
		return nil
	}
	var out []Finding
	for _, p := range f.providers {
		e := p.ejection
		back := f.now.Sub(e.Until)
		if f.blamed[blame{"", p.address}] || e.Trips < ejectedLeast || !e.Ejected && (back > time.Minute || e.Trips < flippingLeast) {
			continue
		}
		text := fmt.Sprintf("is ejected for the %s time in a row, without a minute of service between", ordinal(e.Trips))
		if !e.Ejected {
			text = fmt.Sprintf("has been ejected %d times in a row, without a minute of service between, and was back when this was asked", e.Trips)
		}
		out = append(out, Finding{
			Kind: FindingEjected, Providers: []string{p.address},
			Text:   text + p.latestFailure(),
			Remedy: "Repair it, or take it out with disabled=true or weight=0; if it is well by itself and fails only under load, there are too few providers, or actives should limit what each gets",
		})
	}
	return out
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
