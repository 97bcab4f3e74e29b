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
	w.deadlines.push(deadline{w.now + int64(w.s.Deadline), r.id, r.turn})
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
	w.figures.begun(w.now, r)
	c.begun(r)
}

// travel is the time of one way.
func travel(n *Network, jitter float64) int64 {
	return int64(n.Delay) + int64(float64(n.Jitter)*jitter)
}

// expire ends the wait of the oldest request, if it still waits.
func (w *world) expire() {
	d := w.deadlines.pop()
	if r := w.requests.all[d.ref]; r.turn == d.turn && r.open {
		w.complete(r, late)
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
