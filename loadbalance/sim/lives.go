package sim

// The ways in which a life begins and ends.
const (
	starts = iota
	dies
	leaves
)

// planLives arranges for the lives of a provider.
func (w *world) planLives(v *server) {
	if v.conf.Joins != nil {
		w.events.add(event{at: int64(*v.conf.Joins), kind: changes, who: v.id, mark: starts})
	}
	for _, f := range v.conf.Faults {
		if !f.Kill && !f.Leave {
			continue
		}
		at := int64(f.At) + int64(v.member)*int64(f.Stagger)
		how := int32(dies)
		if f.Leave {
			how = leaves
		}
		w.events.add(event{at: at, kind: changes, who: v.id, mark: how})
		w.events.add(event{at: at + int64(f.For), kind: changes, who: v.id, mark: starts})
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
	case dies:
		w.stop(v)
	}
	for c := range w.s.Consumers {
		after := int64(w.notices.Float64() * float64(w.s.Notify))
		if how == dies {
			after = travel(v.conf.Network, w.notices.ExpFloat64())
		}
		w.events.add(event{at: w.now + after, kind: learns, who: int32(c), ref: v.id, mark: how})
	}
}

// stop ends the process of a provider: what it has is lost.
func (w *world) stop(v *server) {
	for _, id := range v.stop() {
		r := w.requests.all[id]
		r.away = false
		w.requests.release(r)
	}
}

// learn tells a consumer.
func (w *world) learn(consumer int32, v *server, how int32) {
	w.choosers[consumer].learn(v, how)
	if how == leaves {
		return
	}
	for _, r := range w.requests.all { // its connection is lost, and those of lives before
		if r.open && r.consumer == consumer && r.server == v.id && r.life != v.life {
			w.complete(r, dead)
		}
	}
}
