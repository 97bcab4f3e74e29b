package sim

// arrive lets the next request come to its consumer, which sends it.
func (w *world) arrive() {
	r := w.requests.take()
	r.arrival = w.arrivals.next
	w.arrivals.draw()
	r.long, r.open = false, true
	if r.measured = w.now >= 0 && w.now < w.end; r.measured {
		w.waiting++
	}
	if !w.send(r) {
		w.complete(r, nowhere)
		return
	}
	w.remember(deadline{w.now + int64(w.s.Deadline), r.id, r.turn})
	r.away = true
	v := w.servers[r.server]
	v.coming++
	v.onWay += r.work
	w.events.add(event{at: w.now + travel(v.conf.Network, r.there), kind: reaches, ref: r.id, who: v.id})
}

// send lets the strategy of its consumer decide where a request goes. It returns
// false if that is nowhere.
func (w *world) send(r *request) bool {
	c := w.choosers[r.consumer]
	if r.server = c.choose(r); r.server < 0 {
		return false
	}
	w.begin(r, c)
	return true
}

func (w *world) begin(r *request, c chooser) {
	r.life = w.servers[r.server].life
	w.addOpen(r)
	w.figures.begun(w.now, r)
	c.begun(r)
}

// travel is the time of one way.
func travel(n *Network, jitter float64) int64 {
	return int64(n.Delay) + int64(float64(n.Jitter)*jitter)
}

// many is from how many deadlines on it is worth looking for those that are met.
const many = 1 << 17

// remember keeps a deadline. Those of requests that have their answer are forgotten when
// there is no more room, so that there are never many more than open requests.
func (w *world) remember(d deadline) {
	q := &w.deadlines
	if q.n >= many && q.n == len(q.items) {
		kept := 0
		for i := range q.n {
			if d := *q.at(i); w.waits(d) {
				*q.at(kept) = d
				kept++
			}
		}
		if q.n = kept; kept > len(q.items)/2 {
			q.grow()
		}
	}
	q.push(d)
}

// waits reports whether the request of a deadline has no answer yet.
func (w *world) waits(d deadline) bool {
	r := w.requests.all[d.ref]
	return r.turn == d.turn && r.open
}

// expire ends the wait of the oldest request, if it still waits.
func (w *world) expire() {
	if d := w.deadlines.pop(); w.waits(d) {
		w.complete(w.requests.all[d.ref], late)
	}
}

// answer brings an answer to its consumer.
func (w *world) answer(r *request) {
	r.away = false
	if r.open {
		w.complete(r, r.answer)
		return
	}
	w.requests.release(r)
}

// complete ends a request for its consumer.
func (w *world) complete(r *request, a answer) {
	r.open = false
	if a != nowhere {
		w.removeOpen(r)
		w.spent(r)
		w.figures.ended(r)
		w.choosers[r.consumer].ended(r, a)
	}
	if r.measured {
		w.waiting--
		w.figures.measure(w.now, r, a)
	}
	if r.long && a == dead {
		w.events.add(event{at: w.now, kind: begins, who: r.consumer})
	}
	w.requests.release(r)
}
