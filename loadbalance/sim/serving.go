package sim

// reach lets a request come in at its provider.
func (w *world) reach(v *server, r *request) {
	v.coming--
	v.onWay -= r.work
	switch e := v.failing(w.now); {
	case !v.up:
		w.reply(v, r, dead, w.now)
		return
	case e != nil && r.luck < e.size:
		w.reply(v, r, failed, w.now+e.delay)
		return
	case v.full(0):
		w.reply(v, r, refused, w.now)
		return
	}
	r.life = v.life
	w.counts(v, 1)
	if v.cache != nil && r.key >= 0 && !v.cache.use(r.key) {
		r.work *= v.conf.Cache.Miss
		w.figures.missed(w.now)
	}
	switch {
	case v.cores != nil:
		w.share(v, r)
	case v.busy < v.conf.Workers:
		w.serve(v, r)
	default:
		v.queue.push(r.id)
	}
}

// counts keeps the number of requests inside.
func (w *world) counts(v *server, change int) {
	if w.reports {
		v.count(w.now)
	}
	v.inside += change
}

// serve gives a request to a free worker.
func (w *world) serve(v *server, r *request) {
	v.busy++
	slow, cpu := v.pace(w.now, v.served)
	v.served++
	at := v.pauses.finish(w.now, ns(r.work*slow))
	seen := min(1, float64(farNS)/(r.work*slow)) // the part of the work that time has an end for
	r.until, r.place = at, int32(len(v.works))
	v.works = append(v.works, r.id)
	w.figures.worked(v, w.now, at, r.work*cpu*seen)
	r.pace = r.work * cpu * seen / float64(at-w.now)
	w.events.add(event{at: at, kind: finished, ref: r.id, who: v.id, mark: v.life})
}

// finish ends the work on a request, and begins it on the next.
func (w *world) finish(v *server, r *request, life int32) {
	if life != v.life { // it was lost with the process
		r.away = false
		w.requests.release(r)
		return
	}
	v.busy--
	last := v.works[len(v.works)-1]
	v.works[r.place], w.requests.all[last].place = last, r.place
	v.works = v.works[:len(v.works)-1]
	w.counts(v, -1)
	w.hold(v, r)
	if v.queue.n > 0 {
		w.serve(v, w.requests.all[v.queue.pop()])
	}
}

// share lets a request work along with all others inside.
func (w *world) share(v *server, r *request) {
	slow, cpu := v.pace(w.now, v.served)
	v.served++
	v.cores.advance(w.now-v.pauses.before(w.now), v.conf.Workers)
	v.cores.add(job{ref: r.id, came: w.now, cpu: r.work * cpu}, r.work*slow)
	w.nextShared(v)
}

func (w *world) nextShared(v *server) {
	v.cores.mark++
	at := v.pauses.finish(w.now, v.cores.left(v.conf.Workers))
	w.events.add(event{at: at, kind: shared, who: v.id, mark: v.cores.mark})
}

// finishShared ends the work on the request that is finished first.
func (w *world) finishShared(v *server, mark int32) {
	if mark != v.cores.mark {
		return
	}
	v.cores.advance(w.now-v.pauses.before(w.now), v.conf.Workers)
	j := v.cores.pop()
	w.counts(v, -1)
	w.figures.worked(v, j.came, w.now, j.cpu)
	w.hold(v, w.requests.all[j.ref])
	if len(v.cores.jobs) > 0 {
		w.nextShared(v)
	}
}

// hold lets a request that has been worked on wait for what else it needs. Meanwhile it
// keeps its thread, if there is a limit to them.
func (w *world) hold(v *server, r *request) {
	if v.conf.Threads == 0 || r.wait == 0 {
		w.reply(v, r, served, w.now+int64(r.wait))
		return
	}
	v.held++
	w.events.add(event{at: w.now + int64(r.wait), kind: waited, ref: r.id, who: v.id, mark: v.life})
}

// release lets a request go that has waited.
func (w *world) release(v *server, r *request, life int32) {
	if life != v.life { // it was lost with the process
		r.away = false
		w.requests.release(r)
		return
	}
	v.held--
	w.reply(v, r, served, w.now)
}

// cut makes the CPU time of what is worked on what it has taken until now.
func (w *world) cut(v *server) {
	for _, id := range v.works {
		r := w.requests.all[id]
		w.figures.worked(v, w.now, r.until, -r.pace*float64(r.until-w.now))
	}
	if v.cores == nil {
		return
	}
	v.cores.advance(w.now-v.pauses.before(w.now), v.conf.Workers)
	for _, j := range v.cores.jobs {
		if work := j.until - j.from; work > 0 {
			w.figures.worked(v, j.came, w.now, j.cpu*(v.cores.got-j.from)/work)
		}
	}
}

// reply sends an answer on its way at a moment from now on.
func (w *world) reply(v *server, r *request, a answer, at int64) {
	r.answer = a
	if w.reports {
		v.count(w.now)
		r.report = report{at: w.now, load: v.loadAverage(w.now)}
	}
	w.events.add(event{at: at + travel(v.conf.Network, r.back), kind: answered, ref: r.id})
}
