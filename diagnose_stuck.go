package gofer

import (
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// stuckCalls finds calls that have been under way for far longer than others took.
func stuckCalls(f fleet, m methodFigures) []Finding {
	var out []Finding
	var longest time.Duration // answer there ever was: some calls are like that
	for _, p := range m.providers {
		longest = max(longest, p.life.MaxAnswered)
	}
	for _, p := range m.providers {
		if p.Active < stuckLeast || p.age < stuckAfter {
			continue
		}
		calls, usual := p.Answers()
		if calls == 0 {
			calls, usual = p.life.Answers()
		}
		if calls == 0 {
			usual = m.ever()
		}
		text := fmt.Sprintf("calls take %s", short(usual))
		switch {
		case usual > 0 && (p.age < stuckFactor*usual || p.age <= longest):
			continue
		case usual == 0 && p.age <= p.timeout: // who knows how long they take
			continue
		case usual == 0:
			text = fmt.Sprintf("the timeout is %s and none has been answered", p.timeout)
		}
		out = append(out, Finding{
			Kind: FindingStuckCalls, Providers: []string{p.address},
			Text: fmt.Sprintf("%d calls have been under way for %s on average, where %s: some take very long or do not return",
				p.Active, short(p.age), text),
			Remedy: stuckRemedy,
		})
	}
	if len(out) == 0 {
		return m.neverEnded(f)
	}
	return out
}

// ever returns how long answers have taken on average at any time, 0 when there were few.
func (m methodFigures) ever() time.Duration {
	var all protocol.Counters
	for _, p := range m.providers {
		calls, mean := p.life.Answers()
		all.Total, all.Elapsed = all.Total+calls, all.Elapsed+mean*time.Duration(calls)
	}
	if all.Total < enoughCalls {
		return 0
	}
	return all.AverageElapsed()
}

// stuckRemedy is what to do about calls that do not return.
const stuckRemedy = "Look at what these calls wait for and at the method's timeout; under leastactive they keep calls away from this provider and flood a new one, leastload discounts calls that are much older than usual"

// neverEnded finds calls of a method of which none has ended yet, at any provider: how
// long they may take can only be guessed.
func (m methodFigures) neverEnded(f fleet) []Finding {
	var active int
	var age, timeout time.Duration
	var providers []string
	for _, p := range m.providers {
		if p.life.Total > 0 {
			return nil
		}
		if p.Active > 0 {
			active, age, timeout = active+p.Active, age+p.age*time.Duration(p.Active), max(timeout, p.timeout)
			providers = append(providers, p.address)
		}
	}
	if active < stuckLeast || age/time.Duration(active) < stuckQuiet {
		return nil
	}
	age /= time.Duration(active)
	text := ""
	for _, other := range f.methods {
		if usual := other.ever(); usual > 0 {
			if age < stuckFactor*usual {
				return nil
			} else if text == "" {
				text = fmt.Sprintf(", where calls of %s take %s", other.name, short(usual))
			}
		}
	}
	return []Finding{{
		Kind: FindingStuckCalls, Providers: providers,
		Text: fmt.Sprintf("%d calls have been under way for %s on average and none of this method has ever ended%s; its timeout is %s",
			active, short(age), text, timeout),
		Remedy: stuckRemedy,
	}}
}
