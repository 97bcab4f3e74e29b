package registry

import (
	"sync"
	"time"
)

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// retry is a timer that repeats with growing delays until it is stopped. Its
// methods other than wait are called under the directory's lock.
type retry struct {
	timer   *time.Timer
	delay   time.Duration
	running sync.WaitGroup
}

// start arms the timer if it is not armed.
func (r *retry) start(f func()) {
	if r.timer != nil {
		return
	}
	r.delay = min(max(2*r.delay, firstRetry), lastRetry)
	r.running.Add(1)
	r.timer = time.AfterFunc(r.delay, func() {
		defer r.running.Done()
		f()
	})
}

// fired notes that f runs.
func (r *retry) fired() { r.timer = nil }

// stop disarms the timer; the next start begins with the shortest delay.
func (r *retry) stop() {
	r.delay = 0
	if r.timer != nil && r.timer.Stop() {
		r.running.Done()
	}
	r.timer = nil
}

// wait waits for an f that was running when the timer was stopped.
func (r *retry) wait() { r.running.Wait() }
