package sim

import "math"

// sharing is a processor that all requests inside share: each gets an equal part
// of the cores, at most one. All advance alike, so one number tells how much every
// request has got, and the order in which they finish never changes.
type sharing struct {
	jobs    []job   // a heap: who finishes first is first
	got     float64 // ns of work that a request has got that came at the beginning
	updated int64   // until when, pauses left out
	mark    int32   // of the current event
}

type job struct {
	from  float64 // of got
	until float64
	ref   int32
	came  int64
	cpu   float64 // ns of CPU in all
}

// advance brings got up to date. now leaves pauses out.
func (s *sharing) advance(now int64, cores int) {
	s.got = s.at(now, cores)
	s.updated = now
}

// at returns got at a moment before the next request is finished.
func (s *sharing) at(now int64, cores int) float64 {
	if n := len(s.jobs); n > 0 {
		return s.got + float64(now-s.updated)*min(1, float64(cores)/float64(n))
	}
	return s.got
}

// add lets a request in.
func (s *sharing) add(j job, work float64) {
	j.from, j.until = s.got, s.got+work
	s.jobs = append(s.jobs, j)
	i := len(s.jobs) - 1
	for i > 0 && j.until < s.jobs[(i-1)/2].until {
		s.jobs[i] = s.jobs[(i-1)/2]
		i = (i - 1) / 2
	}
	s.jobs[i] = j
}

// left returns how long it takes until the next request is finished.
func (s *sharing) left(cores int) int64 {
	n := len(s.jobs)
	return max(0, ns(math.Ceil((s.jobs[0].until-s.got)/min(1, float64(cores)/float64(n)))))
}

// pop takes the first request out.
func (s *sharing) pop() job {
	first := s.jobs[0]
	n := len(s.jobs) - 1
	last := s.jobs[n]
	s.jobs = s.jobs[:n]
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && s.jobs[c+1].until < s.jobs[c].until {
			c++
		}
		if s.jobs[c].until >= last.until {
			break
		}
		s.jobs[i] = s.jobs[c]
		i = c
	}
	if n > 0 {
		s.jobs[i] = last
	}
	s.got = max(s.got, first.until)
	return first
}

// clear throws everybody out.
func (s *sharing) clear() (lost []int32) {
	for _, j := range s.jobs {
		lost = append(lost, j.ref)
	}
	s.jobs = s.jobs[:0]
	s.mark++
	return lost
}
