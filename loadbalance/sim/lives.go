package sim

import (
	"cmp"
	"slices"
)

// The ways in which a life begins and ends.
const (
	starts = iota
	dies
	leaves
)

// outage is a time in which a provider takes no requests. It begins with leave, if it
// dies later than that, or by dying.
type outage struct {
	begin, dies, end int64
	leave            bool
}

// outages returns those of a member of a group, in order and apart from each other.
func (p *Provider) outages(member int) []outage {
	var all []outage
	for i := range p.Faults {
		f := &p.Faults[i]
		w := f.window(member)
		switch {
		case f.Kill:
			all = append(all, outage{begin: w.begin, dies: w.begin, end: w.end})
		case f.Leave:
			all = append(all, outage{begin: w.begin, dies: w.end, end: w.end, leave: true})
		}
	}
	slices.SortFunc(all, func(a, b outage) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.dies, b.dies)) })
	out := all[:0]
	for _, o := range all {
		if n := len(out); n > 0 && o.begin <= out[n-1].end {
			out[n-1].join(o)
			continue
		}
		out = append(out, o)
	}
	return out
}

// join adds one that begins during it: the process ends by the first kill, or when all
// is over.
func (o *outage) join(next outage) {
	killed := min(o.killed(), next.killed())
	o.end = max(o.end, next.end)
	o.dies = min(o.end, killed)
}

// killed is when the process is killed, the end of time if it never is.
func (o *outage) killed() int64 {
	if o.leave && o.dies == o.end {
		return farNS
	}
	return o.dies
}

// planLives arranges for the lives of a provider.
func (w *world) planLives(v *server) {
	add := func(at, how int64) { w.events.add(event{at: at, kind: changes, who: v.id, mark: int32(how)}) }
	if v.conf.Joins != nil {
		add(int64(*v.conf.Joins), starts)
	}
	for _, o := range v.outages {
		if o.leave && o.dies > o.begin {
			add(o.begin, leaves)
		}
		if o.killed() != farNS {
			add(o.dies, dies)
		}
		add(o.end, starts)
	}
}

// change begins or ends a provider's life, of which every consumer learns: of a
// start and a leave from the registry, of a death by the loss of its connection.
func (w *world) change(v *server, how int32) {
	switch how {
	case starts:
		if v.up { // it has taken leave; what it still has is lost now
			w.stop(v)
		}
		v.start(w.now)
	case leaves:
		v.left = true
	case dies:
		w.stop(v)
	}
	v.turn++
	for c := range w.s.Consumers {
		after := int64(w.notices.Float64() * float64(w.s.Notify))
		if how == dies {
			after = travel(v.conf.Network, w.notices.ExpFloat64())
		}
		w.events.add(event{at: w.now + after, kind: learns, who: int32(c), ref: v.id, mark: v.turn<<2 | how})
	}
}

// stop ends the process of a provider: what it has is lost.
func (w *world) stop(v *server) {
	w.cut(v)
	for _, id := range v.stop() {
		r := w.requests.all[id]
		r.away = false
		w.requests.release(r)
	}
}

// learn tells a consumer. News that has been overtaken is none: a registry tells how
// things are, not how they were, and what is newer is on its way.
func (w *world) learn(consumer int32, v *server, mark int32) {
	how, turn := mark&3, mark>>2
	if turn == v.turn {
		w.choosers[consumer].learn(v, how)
	}
	if how != leaves {
		w.lose(consumer, v)
	}
}
