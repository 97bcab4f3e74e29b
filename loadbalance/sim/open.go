package sim

import "slices"

// open are the requests for whose answers consumers wait, each in a list with all that
// its consumer has sent to the same server.
type open struct {
	servers int
	first   []int32 // by consumer and server; -1: none
}

func newOpen(consumers, servers int) open {
	return open{servers: servers, first: slices.Repeat([]int32{-1}, consumers*servers)}
}

func (o *open) list(consumer, server int32) *int32 {
	return &o.first[int(consumer)*o.servers+int(server)]
}

// add puts a request that is sent in its list.
func (w *world) addOpen(r *request) {
	first := w.open.list(r.consumer, r.server)
	r.newer, r.older = -1, *first
	if r.older >= 0 {
		w.requests.all[r.older].newer = r.id
	}
	*first = r.id
}

// removeOpen takes it out again.
func (w *world) removeOpen(r *request) {
	if r.older >= 0 {
		w.requests.all[r.older].newer = r.newer
	}
	if r.newer >= 0 {
		w.requests.all[r.newer].older = r.older
	} else {
		*w.open.list(r.consumer, r.server) = r.older
	}
}

// lose ends the requests of a consumer that were sent to former lives of a server: their
// connection is lost.
func (w *world) lose(consumer int32, v *server) {
	var lost []int32
	for id := *w.open.list(consumer, v.id); id >= 0; id = w.requests.all[id].older {
		if w.requests.all[id].life != v.life {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	for _, id := range lost {
		w.complete(w.requests.all[id], dead)
	}
}
