package sim

import "time"

// beginLong lets the long requests begin that are there from before the beginning.
func (w *world) beginLong() {
	l := w.s.Long
	if l == nil {
		return
	}
	for c := range w.s.Consumers {
		for _, v := range w.servers {
			for left := l.Each; v.up && left > 0; left-- {
				if left < 1 && w.longs.Float64() >= left {
					break
				}
				r := w.long(int32(c))
				r.server = v.id
				w.choosers[c].place(r)
				w.begin(r, w.choosers[c])
				w.lasts(r)
			}
		}
	}
}

// long makes a long request.
func (w *world) long(consumer int32) *request {
	r := w.requests.take()
	r.arrival = arrival{at: w.now, consumer: consumer, key: -1}
	r.long, r.measured, r.open = true, false, true
	return r
}

func (w *world) lasts(r *request) {
	at := w.now + int64(w.longs.ExpFloat64()*float64(w.s.Long.Lasts))
	w.events.add(event{at: at, kind: ended, ref: r.id, mark: r.turn})
}

// sendLong begins a long request in place of one that has ended; if nobody can have
// it, a second later.
func (w *world) sendLong(consumer int32) {
	r := w.long(consumer)
	if w.send(r) {
		w.lasts(r)
		return
	}
	w.complete(r, nowhere)
	w.events.add(event{at: w.now + int64(time.Second), kind: begins, who: consumer})
}

// endLong ends a long request, unless its provider's death has.
func (w *world) endLong(r *request, turn int32) {
	if r.turn != turn {
		return
	}
	consumer := r.consumer
	w.complete(r, served)
	w.sendLong(consumer)
}

// spent counts the CPU time of a long request that ends.
func (w *world) spent(r *request) {
	if r.long {
		w.figures.worked(w.servers[r.server], r.at, w.now, w.s.Long.CPU*float64(w.now-r.at))
	}
}

// leave counts the CPU time of what is there when the run ends.
func (w *world) leave() {
	for _, v := range w.servers {
		if v.cores != nil {
			w.cut(v)
		}
	}
	for _, r := range w.requests.all {
		if r.open {
			w.spent(r)
		}
	}
}
