package sim

// forecast is when each worker of a server will be free: a heap.
type forecast struct {
	free []int64
	upto int // so many requests that ever waited there are in it
}

// start makes it that of the requests that are worked on.
func (f *forecast) start(w *world, v *server) {
	f.free, f.upto = f.free[:0], v.queue.gone
	for _, id := range v.works {
		f.free = append(f.free, w.requests.all[id].until)
	}
	for len(f.free) < v.conf.Workers {
		f.free = append(f.free, w.now)
	}
	for i := len(f.free)/2 - 1; i >= 0; i-- {
		f.sink(i, f.free[i])
	}
}

// wait brings it up to date with the requests that wait. Who is in it stays: a request
// that is begun meanwhile is begun when, and by whom, it says.
func (f *forecast) wait(w *world, v *server) {
	if f.upto <= v.queue.gone {
		f.start(w, v)
	}
	for ; f.upto < v.queue.gone+v.queue.n; f.upto++ {
		i := f.upto - v.queue.gone
		f.add(w, v, w.requests.all[*v.queue.at(i)].work, v.served+i)
	}
}

// add gives work to the worker that is free first, as the request that is begun after
// so many.
func (f *forecast) add(w *world, v *server, work float64, served int) {
	begin := max(f.free[0], w.now)
	slow, _ := v.pace(begin, served)
	f.sink(0, v.pauses.finish(begin, ns(work*slow)))
}

// sink puts a time into the heap in place of the one at i, which is not later.
func (f *forecast) sink(i int, at int64) {
	for {
		c := 2*i + 1
		if c >= len(f.free) {
			break
		}
		if c+1 < len(f.free) && f.free[c+1] < f.free[c] {
			c++
		}
		if f.free[c] >= at {
			break
		}
		f.free[i] = f.free[c]
		i = c
	}
	f.free[i] = at
}
