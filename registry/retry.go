package registry

import (
	"sync"
	"time"
)

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// retry is a timer with growing delays. Its methods other than wait are called
// under the directory's lock.
type retry struct {
	timer   *time.Timer // nil when not armed
	id      int         // of the timer
	delay   time.Duration
	running sync.WaitGroup
}

// start arms the timer if it is not armed. f begins with [retry.fired].
func (r *retry) start(f func(id int)) {
	if r.timer != nil {
		return
	}
	r.delay = min(max(2*r.delay, firstRetry), lastRetry)
	r.id++
	id := r.id
	r.running.Add(1)
	r.timer = time.AfterFunc(r.delay, func() {
		defer r.running.Done()
		f(id)
	})
}

// fired reports whether the timer with this id is still wanted: it may have gone
// off just before it was stopped.
func (r *retry) fired(id int) bool {
	if r.timer == nil || r.id != id {
		return false
	}
	r.timer = nil
	return true
}

// stop disarms the timer. The next start begins with the shortest delay.
func (r *retry) stop() {
	if r.timer != nil && r.timer.Stop() {
		r.running.Done()
	}
	r.timer, r.delay = nil, 0
}

// wait waits for functions that were running when the timer was stopped.
func (r *retry) wait() { r.running.Wait() }
