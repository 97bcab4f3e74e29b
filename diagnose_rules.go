package gofer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// When a rule speaks up: late enough that chance alone does not make it.
const (
	enoughCalls   = 30               // ended calls before a provider's figures count
	slowFactor    = 2.5              // mean duration over the median of the others
	slowLeast     = time.Millisecond // below this nobody is slow
	slowEnough    = 10               // longest calls that what is too much amounts to
	mixedFactor   = 20               // mean durations of two methods
	failingShare  = 0.2              // failed calls
	failingFactor = 2                // over those of the others
	failsLeast    = 10               // failed calls, however long that took
	failsFactor   = 4                // share of them over that of the others
	ejectedLeast  = 3                // ejections in a row
	flippingLeast = 6                // of a provider that is back
	badShare      = 0.5              // calls that bring no value
	goodShare     = 0.1              // of them at the others
	badRow        = 10               // of them in a row
	badRowLeast   = 2 * time.Second  // for so long, in which others have brought some
	refusedShare  = 0.2              // refused calls
	overFactor    = 1.5              // share of calls over the fair one
	overDeviation = 7                // and standard deviations of a random draw: there may be thousands of providers
	overLeast     = 5 * time.Second  // for so long
	stuckLeast    = 3                // calls under way
	stuckAfter    = 10 * time.Second // that they have been so on average
	stuckFactor   = 20               // times the mean duration
	stuckQuiet    = 10 * time.Minute // for so long, where nobody knows how long they take
	aheadLeast    = 2 * time.Second  // clocks are never quite equal
	behindLeast   = time.Minute      // a provider may register a while after its start
)

// rules are the rules of [Reference.Diagnose], by how much their findings matter.
var rules = []func(fleet) []Finding{
	recently(exceptions), recently(unanswered), recently(failsFast), recently(refusals), recently(fails), ejected,
	perMethod(stuckCalls), recently(slowProvider), perMethod(overShare),
	noActives, mixedMethods, noWarmup, clockSkew,
}

func perMethod(rule func(fleet, methodFigures) []Finding) func(fleet) []Finding {
	return func(f fleet) []Finding {
		var out []Finding
		for _, m := range f.methods {
			for _, found := range rule(f, m) {
				found.Method = m.name
				out = append(out, found)
			}
		}
		return out
	}
}

// recently is perMethod for a rule whose figures are those of a recent time: the texts say
// of how long.
func recently(rule func(fleet, methodFigures) []Finding) func(fleet) []Finding {
	return perMethod(func(f fleet, m methodFigures) []Finding {
		found := rule(f, m)
		for i := range found {
			found[i].Text += f.over(m.providers, found[i].Providers)
		}
		return found
	})
}

// over tells of how long the figures of one provider are, or of all.
func (f fleet) over(all []providerFigures, some []string) string {
	first := f.now
	for _, p := range all {
		if p.since.Before(first) && (len(some) != 1 || p.address == some[0]) {
			first = p.since
		}
	}
	if first.Before(f.recent) {
		first = f.recent
	}
	return fmt.Sprintf(" (figures of %s)", short(f.now.Sub(first)))
}

// latencyAware are the strategies that look at how long calls take.
var latencyAware = []string{"leastload", "ringload", "shortestresponse", "adaptive"}

// blind are the strategies that look at nothing but weights and arguments.
var blind = []string{"random", "roundrobin", "consistenthash"}

// hashing are the strategies that choose by the arguments.
var hashing = []string{"consistenthash", "ringload"}

// unweighed reports whether a strategy knows no weights, so that nothing is warmed up.
func unweighed(balance string) bool { return balance == "consistenthash" }

// keyed reports whether calls are placed by their arguments: what is odd at a provider may
// come of what its keys ask for.
func (m methodFigures) keyed() bool { return slices.Contains(hashing, m.balance) && !m.bare }

// byKey says so.
func (m methodFigures) byKey() string {
	if !m.keyed() {
		return ""
	}
	return fmt.Sprintf("; calls are placed by their key (loadbalance=%s), so it may be one key and not the provider", m.balance)
}

// keyRemedy is what to do then. To take the provider out would only move the key.
const keyRemedy = "Compare the arguments of these calls with those of the others first: a key that does this anywhere would only move to the next provider if this one were taken out. If all keys do it here, look at the provider's log and at what it depends on"

// succeeded returns how many calls were answered with a value, and their mean duration.
func (p providerFigures) succeeded() (calls int64, mean time.Duration) {
	calls, mean = p.Answers()
	calls, mean = calls-p.Exceptions, mean*time.Duration(calls)-p.ExceptionsElapsed
	return calls, mean / time.Duration(max(1, calls))
}

// means returns the mean durations at all providers with enough calls but one, sorted.
func (m methodFigures) means(but int, enough int64) []time.Duration {
	var means []time.Duration
	for i, p := range m.providers {
		if calls, mean := p.succeeded(); i != but && calls >= enough {
			means = append(means, mean)
		}
	}
	slices.Sort(means)
	return means
}

// medianOfOthers returns the median of the mean durations of all but one provider, of
// those with enough calls.
func (m methodFigures) medianOfOthers(but int) (time.Duration, bool) {
	return m.medianIn(m.sorted, enoughCalls, but)
}

// medianIn is that of a list of means at those with so many calls.
func (m methodFigures) medianIn(sorted []time.Duration, enough int64, but int) (time.Duration, bool) {
	own := len(sorted) // where it would be
	others := own
	if calls, mean := m.providers[but].succeeded(); calls >= enough {
		own, _ = slices.BinarySearch(sorted, mean)
		others--
	}
	if others <= 0 {
		return 0, false
	}
	middle := others / 2
	if middle >= own {
		middle++
	}
	return sorted[middle], true
}

// slowProvider finds providers much slower than the others under a strategy that
// does not see it.
func slowProvider(f fleet, m methodFigures) []Finding {
	if slices.Contains(latencyAware, m.balance) {
		return nil
	}
	var out []Finding
	for i, p := range m.providers {
		calls, mean := p.succeeded()
		others, known := m.medianOfOthers(i)
		if !known || calls < enoughCalls || mean < slowLeast || float64(mean) < slowFactor*float64(others) || fewOf(p.MaxElapsed, calls, mean-others) {
			continue
		}
		effect, remedy := "may not look at that", "Use loadbalance=leastload, or give the provider a smaller weight"
		switch {
		case m.balance == "leastactive":
			effect = "sees it only in calls under way, and when there are few not at all"
		case slices.Contains(hashing, m.balance):
			effect = "sends it the calls of its keys, so they pile up there" + m.byKey()
			remedy = "Use loadbalance=ringload, which lets what piles up spill over; see whether it is a key whose calls take long anywhere"
		case slices.Contains(blind, m.balance):
			effect = "sends it as many calls as its weight says, so they pile up there"
		}
		why := ""
		switch {
		case p.warm.After(f.now):
			why, remedy = "; it is warming up", fmt.Sprintf("Wait until it is warm, in %s; prefer loadbalance=leastload, which sends a cold provider what it bears", short(p.warm.Sub(f.now)))
		case p.warm.After(f.recent):
			why, remedy = "; it was warming up in that time", "Ask again in some minutes; prefer loadbalance=leastload, which sends a cold provider what it bears"
		}
		out = append(out, Finding{
			Kind: FindingSlowProvider, Providers: []string{p.address},
			Text: fmt.Sprintf("answers in %s on average where the median of the others is %s%s; loadbalance=%s %s",
				short(mean), short(others), why, m.balance, effect),
			Remedy: remedy,
		})
	}
	return out
}

// fewOf reports whether it takes only a few calls as long as the longest to explain why
// so many are longer by that much on average: chance would do.
func fewOf(longest time.Duration, calls int64, more time.Duration) bool {
	return float64(calls)*float64(more) < slowEnough*float64(longest)
}

// noActives finds strategies that count nothing in a Java consumer, or only at some of the
// providers.
func noActives(f fleet) []Finding {
	var out []Finding
	for _, balance := range []string{"leastactive", "shortestresponse"} {
		var names []string
		for _, m := range f.methods {
			if m.balance != balance {
				continue
			}
			if all, some := m.unlimited(); len(some) > 0 {
				out = append(out, Finding{
					Kind: FindingNoActives, Method: m.name, Providers: some,
					Text:   fmt.Sprintf("loadbalance=%s, and only others have actives: Java consumers of this service count no calls here, take it for idle and send it most of them; gofer counts all the same", balance),
					Remedy: "Set actives for Java consumers at all providers or at none; without a Java consumer all is well",
				})
			} else if all {
				names = append(names, m.name)
			}
		}
		if len(names) > 0 {
			out = append(out, Finding{
				Kind:   FindingNoActives,
				Text:   fmt.Sprintf("loadbalance=%s without actives (%s): gofer counts calls all the same, Java consumers of this service do not and choose at random", balance, list(names)),
				Remedy: "Set actives for Java consumers, to a limit that is never reached if none is wanted, such as actives=10000; if no Java consumer calls this service set actives=0, which says so",
			})
		}
	}
	return out
}

// unlimited reports whether no provider has actives, and nobody has said that none is
// wanted; some are those without where others have them.
func (m methodFigures) unlimited() (all bool, some []string) {
	limited := 0
	for _, p := range m.providers {
		all = all || !p.told
		if p.actives > 0 {
			limited++
		} else {
			some = append(some, p.address)
		}
	}
	if limited == 0 {
		return all, nil
	}
	return false, some
}

// mixedMethods finds methods of very different duration where calls are counted
// method by method, all alike.
func mixedMethods(f fleet) []Finding {
	type timed struct {
		name, balance string
		calls         int64
		mean, longest time.Duration
	}
	var all []timed
	for _, m := range f.methods {
		var calls int64
		var spent, longest time.Duration
		for _, p := range m.providers {
			n, mean := p.succeeded()
			calls, spent, longest = calls+n, spent+mean*time.Duration(n), max(longest, p.MaxElapsed)
		}
		if calls >= enoughCalls && !slices.Contains(latencyAware, m.balance) {
			all = append(all, timed{m.name, m.balance, calls, spent / time.Duration(calls), longest})
		}
	}
	if len(all) < 2 {
		return nil
	}
	byMean := func(a, b timed) int { return cmp.Compare(a.mean, b.mean) }
	quick, long := slices.MinFunc(all, byMean), slices.MaxFunc(all, byMean)
	if long.mean < slowLeast || long.mean < mixedFactor*quick.mean || fewOf(long.longest, long.calls, long.mean-quick.mean) {
		return nil
	}
	return []Finding{{
		Kind: FindingMixedMethods,
		Text: fmt.Sprintf("%s takes %s on average, %s %s: each is balanced without a look at the other (loadbalance=%s), so a provider busy with the long one gets as many of the quick one%s",
			long.name, short(long.mean), quick.name, short(quick.mean), quick.balance, f.over(f.providers, nil)),
		Remedy: "Use loadbalance=leastload, which counts the calls of all methods by what they cost, or put the long method into a service of its own",
	}}
}

// noWarmup finds providers that do not say when they started.
func noWarmup(f fleet) []Finding {
	if f.direct {
		return nil
	}
	weighed := slices.ContainsFunc(f.methods, func(m methodFigures) bool { return !unweighed(m.balance) })
	var providers []string
	for _, p := range f.providers {
		if p.stamp.IsZero() && p.warmup > 0 && (weighed || !p.unweighed) {
			providers = append(providers, p.address)
		}
	}
	if len(providers) == 0 {
		return nil
	}
	return []Finding{{
		Kind: FindingNoWarmup, Providers: providers,
		Text:   "registered without a timestamp: nobody knows when it started, so it has its full weight at once",
		Remedy: "Let the provider register its timestamp (simplified registration leaves it out unless extra-keys=timestamp), or set warmup=0 to say that none is needed",
	}}
}

// clockSkew finds providers that started in the future, or before a list that did not
// have them.
func clockSkew(f fleet) []Finding {
	var out []Finding
	for _, p := range f.providers {
		text, remedy := "", "Synchronise the clocks"
		ahead, behind := p.stamp.Sub(p.since), p.start.Sub(p.stamp)
		switch {
		case p.stamp.IsZero():
			continue
		case ahead >= aheadLeast:
			text = fmt.Sprintf("says it started %s after this consumer first saw it: its clock is ahead. gofer counts its warm-up from first sight, Java consumers give it the least weight until their clocks have caught up (F18)", short(ahead))
		case behind >= behindLeast:
			text = fmt.Sprintf("says it started %s before the last list that did not have it: its clock is behind, or it registered that long after it had started. gofer counts its warm-up from that list, Java consumers skip that much of it (F18)", short(behind))
			remedy = "Compare its clock with this machine's, and synchronise them if they differ; if it registers so long after its start on purpose (delay, a readiness probe, online by QoS), all is well"
		default:
			continue
		}
		out = append(out, Finding{Kind: FindingClockSkew, Providers: []string{p.address}, Text: text, Remedy: remedy})
	}
	return out
}

// list names a few and says how many more there are.
func list(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// short is a duration with three digits, which is as exact as a mean is.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// percent is a share in words.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
