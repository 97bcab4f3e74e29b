package sim

// kind is what happens in an event.
type kind uint8

const (
	reaches  kind = iota // a request reaches its provider
	finished             // a worker has finished a request
	shared               // of the requests that share cores the next has finished
	waited               // a request that keeps a thread has waited for something else
	answered             // an answer reaches the consumer
	ended                // a long request ends
	begins               // a long request begins
	learns               // a consumer learns what has become of a provider
	changes              // a provider starts, dies or takes leave
)

// event is something that will happen. ref and who are indexes, of what depends on
// the kind; mark tells a current event from one that has been overtaken.
type event struct {
	at    int64  // ns of virtual time
	order uint32 // of events at the same time: first made, first run
	kind  kind
	ref   int32
	who   int32
	mark  int32
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && int32(e.order-o.order) < 0
}

// events are those to come, the next one first: a heap in which every event has
// four below it, which is flatter than two and so kinder to the cache.
type events struct {
	heap  []event
	order uint32
}

func (q *events) add(e event) {
	e.order = q.order
	q.order++
	h := append(q.heap, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	q.heap = h
}

// next removes and returns the first event. There has to be one.
func (q *events) next() event {
	h := q.heap
	first := h[0]
	n := len(h) - 1
	last := h[n]
	h = h[:n]
	q.heap = h
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if n > 0 {
		h[i] = last
	}
	return first
}

// ring is a queue: first in, first out, without allocation once it is large enough.
type ring[T any] struct {
	items []T
	head  int
	n     int
	gone  int // how many were ever taken out
}

func (q *ring[T]) push(v T) {
	if q.n == len(q.items) {
		q.grow()
	}
	q.items[(q.head+q.n)&(len(q.items)-1)] = v
	q.n++
}

func (q *ring[T]) grow() {
	grown := make([]T, max(16, 2*len(q.items)))
	k := copy(grown, q.items[q.head:])
	copy(grown[k:], q.items[:q.head])
	q.items, q.head = grown, 0
}

func (q *ring[T]) first() *T { return q.at(0) }

func (q *ring[T]) at(i int) *T { return &q.items[(q.head+i)&(len(q.items)-1)] }

func (q *ring[T]) pop() T {
	v := q.items[q.head]
	q.head = (q.head + 1) & (len(q.items) - 1)
	q.n--
	q.gone++
	return v
}
