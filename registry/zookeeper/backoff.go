package zookeeper

import "time"

// backoff spreads repeated tries: full jitter over min·2ⁿ, capped at max.
type backoff struct {
	min, max time.Duration
	random   func() float64 // in [0, 1)
}

// after returns the pause after the n-th failure in a row, n from 1. It is at
// least a tenth of min, so that bad luck makes no hot loop.
func (b backoff) after(n int) time.Duration {
	limit := b.min
	for i := 1; i < n && limit < b.max; i++ {
		limit *= 2
	}
	return max(b.min/10, time.Duration(b.random()*float64(min(limit, b.max))))
}

// around returns d ± 50 %.
func (b backoff) around(d time.Duration) time.Duration {
	return d/2 + time.Duration(b.random()*float64(d))
}

// pace decides how long to wait from a watch event to the read. A lone change is
// read soon; while changes keep coming the wait doubles up to burst, so that a
// rolling restart costs a few reads a second (B187).
type pace struct {
	last time.Time     // of the last event
	wait time.Duration // chosen then
}

func (p *pace) next(now time.Time, s *settings) time.Duration {
	if now.Sub(p.last) >= s.calm {
		p.wait = s.quiet
	} else {
		p.wait = min(2*p.wait, s.burst)
	}
	p.last = now
	return p.wait
}
