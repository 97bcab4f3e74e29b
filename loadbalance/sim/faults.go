package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
)

// window is a time in which a fault holds, and its size.
type window struct {
	begin, end int64
	size       float64
	delay      int64
}

func (w *window) holds(t int64) bool { return t >= w.begin && t < w.end }

// plan works out when the faults of a server will hold.
func (v *server) plan(s *Scenario, rng *rand.Rand) {
	for i := range v.conf.Faults {
		f := &v.conf.Faults[i]
		w := f.window(v.member)
		switch {
		case f.Error > 0:
			w.size, w.delay = f.Error, int64(f.In)
			v.errors = append(v.errors, w)
		case f.Slow > 0:
			w.size = f.Slow
			v.slows = append(v.slows, w)
		case f.Pause && f.Every == 0:
			v.pauses = append(v.pauses, pause{begin: w.begin, end: w.end})
		case f.Pause:
			for t := int64(f.At); t < int64(s.Duration); t += int64(f.Every) {
				lasts := int64(float64(f.For) * (0.5 + rng.Float64()))
				begin := t + int64(rng.Float64()*float64(int64(f.Every)-lasts))
				v.pauses = append(v.pauses, pause{begin: begin, end: begin + lasts})
			}
		}
	}
	v.pauses = v.pauses.joined()
	v.outages = v.conf.outages(v.member)
}

// window is when a member of a group has the fault.
func (f *Fault) window(member int) window {
	begin := int64(f.At) + int64(member)*int64(f.Stagger)
	return window{begin: begin, end: begin + int64(f.For)}
}

// failing returns the fault by which requests fail that come at t, nil for none: of
// several the most frequent, or the one that fails sooner.
func (v *server) failing(t int64) (worst *window) {
	for i := range v.errors {
		w := &v.errors[i]
		if w.holds(t) && (worst == nil || w.size > worst.size || w.size == worst.size && w.delay < worst.delay) {
			worst = w
		}
	}
	return worst
}

// pause is a time in which a provider does nothing.
type pause struct {
	begin, end int64
	before     int64 // how long it has paused before
}

// pauses are in order and apart from each other.
type pauses []pause

// joined returns pauses in any order as they are to be.
func (p pauses) joined() pauses {
	slices.SortFunc(p, func(a, b pause) int { return cmp.Compare(a.begin, b.begin) })
	out := p[:0]
	for _, w := range p {
		if n := len(out); n > 0 && w.begin <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, w.end)
			continue
		}
		out = append(out, w)
	}
	before := int64(0)
	for i := range out {
		out[i].before = before
		before += out[i].end - out[i].begin
	}
	return out
}

// from returns the index of the first pause that is not over at t.
func (p pauses) from(t int64) int {
	return sort.Search(len(p), func(i int) bool { return p[i].end > t })
}

// holds reports whether t is in a pause.
func (p pauses) holds(t int64) bool {
	i := p.from(t)
	return i < len(p) && t >= p[i].begin
}

// finish returns when work that takes so long without pauses is finished.
func (p pauses) finish(t, work int64) int64 {
	i := p.from(t)
	if i < len(p) && t >= p[i].begin {
		t = p[i].end
		i++
	}
	paused := int64(0)
	if i < len(p) {
		begun := t - p[i].before // without pauses
		n := sort.Search(len(p)-i, func(k int) bool { return begun+work <= p[i+k].begin-p[i+k].before })
		if n > 0 {
			last := &p[i+n-1]
			paused = last.before + last.end - last.begin - p[i].before
		}
	}
	return min(t+work+paused, farNS)
}

// before returns how much of the time before t was paused.
func (p pauses) before(t int64) int64 {
	i := sort.Search(len(p), func(i int) bool { return p[i].begin >= t }) - 1
	if i < 0 {
		return 0
	}
	return p[i].before + min(p[i].end, t) - p[i].begin
}
