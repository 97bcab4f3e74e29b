package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofer-rpc/gofer"
)

// outcome is what was measured with one strategy. Times count from its beginning.
type outcome struct {
	strategy  string
	names     map[string]string // of our providers by address; nil: not ours
	restarted string            // the name of one, "" for none
	stopped   time.Duration     // when it began to stop
	back      time.Duration     // when it was registered again
	ended     time.Duration
	samples   []sample
	idle      []string       // providers in the list without a call
	weights   map[string]int // of called providers, at the end

	calls, failed int // of the callers: what retries made good has not failed
	first         error
}

// look adds what the consumer itself knows of the providers: those that no call went
// to, and the weights in force.
func (o *outcome) look(s gofer.ReferenceSnapshot, method string) {
	called := addresses(o.samples)
	o.weights = map[string]int{}
	for _, p := range s.Providers {
		if !slices.Contains(called, p.Address) {
			o.idle = append(o.idle, p.Address)
		}
		for _, m := range p.Methods {
			if m.Name == method {
				o.weights[p.Address] = m.Weight
			}
		}
	}
}

// providers are the addresses in the order of the table.
func (o *outcome) providers() []string {
	list := append(addresses(o.samples), o.idle...)
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(o.label(a), o.label(b)) })
	return list
}

func (o *outcome) label(address string) string {
	return strings.TrimSpace(o.names[address] + " " + address)
}

// steady are the figures before the restart, or of the whole time.
func (o *outcome) steady() (each []figures, all figures) {
	end := o.ended
	if o.restarted != "" {
		end = o.stopped
	}
	return summarize(o.samples, 0, end, o.providers())
}

// warming are the figures after the restart.
func (o *outcome) warming() (each []figures, all figures) {
	return summarize(o.samples, o.back, o.ended, o.providers())
}

// share is the part of the calls that a provider got in a quarter of its warm-up.
func (o *outcome) share(provider string, quarter int) float64 {
	part := (o.ended - o.back) / 4
	from := o.back + time.Duration(quarter)*part
	each, _ := summarize(o.samples, from, from+part, o.providers())
	return find(each, provider).share
}

// failure is the error of a run in which calls failed.
func (o *outcome) failure() error {
	if o.failed == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d of %d calls failed, the first one: %w", o.strategy, o.failed, o.calls, o.first)
}

// introduce shows what the consumer has found, before the load begins.
func introduce(out io.Writer, cfg config, s gofer.ReferenceSnapshot, answer any) {
	fmt.Fprintf(out, "service    %s\n", s.Service)
	fmt.Fprintf(out, "providers  %s\n", s.Funnel)
	for _, p := range s.Providers {
		fmt.Fprintf(out, "           %s is %s%s\n", p.Address, p.State, after(": ", p.Reason))
	}
	var args []string
	for _, a := range cfg.args {
		args = append(args, fmt.Sprintf("%#v", a))
	}
	fmt.Fprintf(out, "call       %.200s\n", fmt.Sprintf("%s(%s) = %#v", cfg.name(), strings.Join(args, ", "), answer))
	fmt.Fprintf(out, "load       %d callers, one call after the other\n", cfg.callers)
	if cfg.local {
		fmt.Fprintf(out, "restart    %s, under load; %d times slower at first, warm after %.1f s\n", newcomer, factor, cfg.warmup().Seconds())
	}
	fmt.Fprintln(out)
}

func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// write prints the table and what it means.
func (o *outcome) write(out io.Writer) {
	width := len("provider")
	for _, p := range o.providers() {
		width = max(width, len(o.label(p)))
	}
	fmt.Fprintf(out, "%s\n  %-8s %-*s %8s %8s %7s %12s %9s %9s\n", o.strategy, "phase", width, "provider", "calls", "share", "failed", "active peak", "p50", "p99")
	block := func(phase string, each []figures, all figures) {
		for _, f := range append(each, all) {
			label := o.label(f.provider)
			if f.provider == "" {
				label = "all"
			}
			fmt.Fprintf(out, "  %-8s %-*s %8d %6.1f %% %7d %12d %9s %9s\n", phase, width, label, f.calls, 100*f.share, f.failed, f.peak, ms(f.p50), ms(f.p99))
			phase = ""
		}
	}
	each, all := o.steady()
	block("steady", each, all)
	if o.restarted != "" {
		each, all := o.warming()
		block("warming", each, all)
	}
	fmt.Fprintf(out, "%s\n\n", wrapped("  →", o.sentence()))
}

// wrapped puts a text behind another one, on lines of the table's width.
func wrapped(line, text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+len(word) > 92 {
			b.WriteString(line + "\n")
			line = "   "
		}
		line += " " + word
	}
	return b.String() + line
}

// ms writes a time in milliseconds.
func ms(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	if v < 1 {
		return fmt.Sprintf("%.2f ms", v)
	}
	return fmt.Sprintf("%.1f ms", v)
}

// sentence says what happened. Nothing in it is known beforehand.
func (o *outcome) sentence() string {
	if len(o.samples) == 0 {
		return "nothing was called."
	}
	if o.restarted != "" {
		return o.restart()
	}
	each, all := o.steady()
	if len(each) == 1 {
		return fmt.Sprintf("there is one provider, %s, and it got all calls, at a p99 of %s; %s.", each[0].provider, ms(all.p99), o.failures())
	}
	most, least, slow := maxBy(each, calls), maxBy(each, fewest), maxBy(each, slowest)
	return fmt.Sprintf("of %d providers %s%s got the most calls, %.1f %%, and %s%s the fewest, %.1f %%; the slowest was %s with a p99 of %s; %s.",
		len(each), most.provider, o.weight(most), 100*most.share, least.provider, o.weight(least), 100*least.share, slow.provider, ms(slow.p99), o.failures())
}

// weight explains a share: a Java provider weighs little in its first ten minutes.
func (o *outcome) weight(f figures) string {
	if w, ok := o.weights[f.provider]; ok {
		return fmt.Sprintf(" (weight %d)", w)
	}
	return ""
}

// restart says what the restart did to the provider and to the callers.
func (o *outcome) restart() string {
	_, before := o.steady()
	each, all := o.warming()
	var address string
	for a, name := range o.names {
		if name == o.restarted {
			address = a
		}
	}
	own := find(each, address)
	others := slices.DeleteFunc(slices.Clone(each), func(f figures) bool { return f.provider == address })
	fair := 1 / float64(len(each))
	how := "got about its fair share"
	switch {
	case own.calls == 0:
		how = "got nothing to do"
	case own.share < 0.9*fair:
		how = "was spared"
	case own.share > 1.1*fair:
		how = "was flooded"
	}
	p99 := "stayed at " + ms(all.p99)
	if ratio := float64(all.p99) / float64(max(before.p99, 1)); ratio < 0.9 || ratio > 1.1 {
		p99 = fmt.Sprintf("went from %s to %s", ms(before.p99), ms(all.p99))
	}
	return fmt.Sprintf("%s was away for %d ms, came back cold and %s: %.1f %% of the calls (fair: %.1f %%), %.1f %% in the first quarter of its warm-up, %.1f %% in the last; at most %d at once, elsewhere %d; the callers' p99 %s; %s.",
		o.restarted, (o.back - o.stopped).Milliseconds(), how, 100*own.share, 100*fair,
		100*o.share(address, 0), 100*o.share(address, 3), own.peak, maxBy(others, peak).peak, p99, o.failures())
}

func (o *outcome) failures() string {
	attempts := 0
	for _, s := range o.samples {
		if s.failed {
			attempts++
		}
	}
	switch {
	case o.failed > 0:
		return fmt.Sprintf("%d of %d calls failed", o.failed, o.calls)
	case attempts > 0:
		return fmt.Sprintf("none of %d calls failed, as retries made good %d failed attempts", o.calls, attempts)
	}
	return fmt.Sprintf("none of %d calls failed", o.calls)
}
