package main

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
)

// quantity is what a plot shows over time.
type quantity struct {
	key    string
	title  string
	of     func(p point) float64
	text   func(w window) string
	height func(v float64) float64 // 0 at the bottom, 1 at the top
	ticks  []tick
	mark   *tick // a level to compare with
}

type tick struct {
	value float64
	label string
}

// quantities are share, and p99 on a scale of logarithms.
func quantities() []quantity {
	share := quantity{
		key: "share", title: "Share of the calls that go to the new provider",
		of:     func(p point) float64 { return p.share },
		text:   func(w window) string { return percent(w.share) },
		height: func(v float64) float64 { return min(max(v, 0), 1) },
		mark:   &tick{fair, "fair share"},
	}
	for v := 0; v <= 100; v += 25 {
		share.ticks = append(share.ticks, tick{float64(v) / 100, fmt.Sprintf("%d %%", v)})
	}
	const low, high = 20, 1000 // ms
	p99 := quantity{
		key: "p99", title: "p99 of the callers, on a logarithmic scale",
		of:     func(p point) float64 { return float64(p.p99) / float64(time.Millisecond) },
		text:   func(w window) string { return ms(w.p99) },
		height: func(v float64) float64 { return math.Log(min(max(v, low), high)/low) / math.Log(high/low) },
	}
	for _, v := range []float64{20, 50, 100, 200, 500, 1000} {
		p99.ticks = append(p99.ticks, tick{v, fmt.Sprintf("%.0f ms", v)})
	}
	p99.ticks[5].label = "1 s"
	return []quantity{share, p99}
}

// The parts of a plot, in its own units.
const (
	plotWidth, plotHeight = 500.0, 250.0
	plotLeft, plotRight   = 56.0, 314.0 // of the field; labels are to its right
	plotTop, plotBottom   = 20.0, 222.0
	labelGap              = 15.0
)

// plot draws a quantity for all strategies of a cause.
func (r *results) plot(cause int, q quantity) template.HTML {
	c, outcomes := r.causes[cause], r.of(cause)
	var s svg
	s.begin(c.key+"-"+q.key, c.title+": "+q.title, r.describe(outcomes, q), plotWidth, plotHeight)
	x := func(t time.Duration) float64 {
		return plotLeft + (plotRight-plotLeft)*float64(t+before)/float64(r.after+before)
	}
	y := func(v float64) float64 { return plotBottom - (plotBottom-plotTop)*q.height(v) }
	for _, t := range q.ticks {
		s.line("grid", plotLeft, y(t.value), plotRight, y(t.value))
		s.text("tick", "end", plotLeft-6, y(t.value)+4, t.label)
	}
	for _, t := range r.times() {
		s.line("axis", x(t), plotBottom, x(t), plotBottom+4)
		s.text("tick", "middle", x(t), plotBottom+18, clock(t))
	}
	s.line("restart", x(0), plotTop-4, x(0), plotBottom)
	s.text("tick", "start", x(0)-4, plotTop-8, "the new provider is there")
	if m := q.mark; m != nil {
		s.line("mark", plotLeft, y(m.value), plotRight, y(m.value))
	}
	for i := len(outcomes) - 1; i >= 0; i-- { // the first on top
		o := &outcomes[i]
		var points [][2]float64
		for _, p := range o.points {
			points = append(points, [2]float64{x(p.at), y(q.of(p))})
		}
		s.curve("curve "+o.strategy.key, points)
	}
	if m := q.mark; m != nil {
		s.text("level", "end", plotRight-8, y(m.value)-5, m.label)
	}
	r.labels(&s, outcomes, func(o *outcome) (float64, float64) {
		p := o.points[len(o.points)-1]
		return x(p.at), y(q.of(p))
	})
	s.end()
	return template.HTML(s.String())
}

// labels writes the names of the strategies beside the ends of their lines, apart
// from each other.
func (r *results) labels(s *svg, outcomes []outcome, end func(*outcome) (x, y float64)) {
	order := make([]*outcome, len(outcomes))
	for i := range outcomes {
		order[i] = &outcomes[i]
	}
	slices.SortStableFunc(order, func(a, b *outcome) int {
		_, ya := end(a)
		_, yb := end(b)
		return cmp.Compare(ya, yb)
	})
	wanted := make([]float64, len(order))
	for i, o := range order {
		_, wanted[i] = end(o)
	}
	for i, at := range spread(wanted, labelGap, plotTop, plotBottom) {
		o := order[i]
		x, y := end(o)
		s.curve("leader "+o.strategy.key, [][2]float64{{x, y}, {plotRight + 4, y}, {plotRight + 14, at}, {plotRight + 18, at}})
		s.dot("dot "+o.strategy.key, x, y, 2.5)
		s.text("label "+o.strategy.key, "start", plotRight+21, at+4, o.strategy.label)
	}
}

// spread moves heights, in order, apart by a gap at least, within bounds, and as
// little as it can.
func spread(wanted []float64, gap, low, high float64) []float64 {
	type group struct { // of labels that touch
		sum  float64 // of the places that each wants its first to have
		n    int
		from float64 // the place of its first
	}
	var groups []group
	for _, w := range wanted {
		g := group{sum: w, n: 1}
		for {
			g.from = max(low, min(g.sum/float64(g.n), high-float64(g.n-1)*gap))
			last := len(groups) - 1
			if last < 0 || groups[last].from+float64(groups[last].n)*gap <= g.from {
				break
			}
			g.sum += groups[last].sum - float64(g.n*groups[last].n)*gap
			g.n += groups[last].n
			groups = groups[:last]
		}
		groups = append(groups, g)
	}
	places := make([]float64, 0, len(wanted))
	for _, g := range groups {
		for i := range g.n {
			places = append(places, g.from+float64(i)*gap)
		}
	}
	return places
}

// describe says in words what a plot shows.
func (r *results) describe(outcomes []outcome, q quantity) string {
	var all []string
	for i := range outcomes {
		o := &outcomes[i]
		var values []string
		for k, span := range r.spans() {
			values = append(values, q.text(o.windows[k])+" over "+brief(span))
		}
		all = append(all, o.strategy.label+" "+list(values))
	}
	return strings.Join(all, "; ") + "."
}

// times are the ticks of time: about five.
func (r *results) times() []time.Duration {
	step := time.Second
	for _, s := range []time.Duration{2, 5, 10, 20, 30, 60, 120, 300, 600, 900} {
		if step*5 < r.after {
			step = s * time.Second
		}
	}
	var all []time.Duration
	for t := time.Duration(0); t <= r.after; t += step {
		all = append(all, t)
	}
	return all
}

func clock(t time.Duration) string {
	if t > 0 && t%time.Minute == 0 {
		return fmt.Sprintf("%d min", t/time.Minute)
	}
	return fmt.Sprintf("%d s", t/time.Second)
}
