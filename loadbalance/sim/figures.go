package sim

import (
	"time"
)

// figures are what is measured in a run.
type figures struct {
	s       *Scenario
	end     int64
	events  int
	all     histogram
	answers [nowhere + 1]int
	misses  int

	replaced int // choices that could not be used
	servers  []serverFigures

	// In detail: by second, and whether calls went to whom alone had the fewest.
	seconds []second
	calls   func(Call)
	active  [][]int32 // by consumer and server: calls under way as the consumer counts
}

type serverFigures struct {
	calls  int
	errors int
	busy   float64 // ns of CPU
	sole   int
}

type second struct {
	times histogram
	calls []int32
	busy  []float64
	bad   int
}

func newFigures(s *Scenario, servers int, detail bool) *figures {
	f := &figures{s: s, end: int64(s.Duration), servers: make([]serverFigures, servers)}
	if !detail {
		return f
	}
	f.seconds = make([]second, (s.Duration+time.Second-1)/time.Second)
	for i := range f.seconds {
		f.seconds[i].calls = make([]int32, servers)
		f.seconds[i].busy = make([]float64, servers)
	}
	f.active = make([][]int32, s.Consumers)
	for i := range f.active {
		f.active[i] = make([]int32, servers)
	}
	return f
}

func (f *figures) measured(t int64) bool { return t >= 0 && t < f.end }

func (f *figures) second(t int64) *second { return &f.seconds[t/int64(time.Second)] }

// begun counts a request that is sent.
func (f *figures) begun(now int64, r *request) {
	in := f.measured(now) && !r.long
	if in {
		f.servers[r.server].calls++
	}
	if f.seconds == nil {
		return
	}
	if in {
		f.second(now).calls[r.server]++
		if r.sole = f.sole(r); r.sole {
			f.servers[r.server].sole++
		}
	}
	f.active[r.consumer][r.server]++
}

// leaked adds calls that a consumer takes for calls under way for ever.
func (f *figures) leaked(consumer, server, n int) {
	if f.active != nil {
		f.active[consumer][server] += int32(n)
	}
}

// sole reports whether the chosen provider is the only one with the fewest calls
// under way.
func (f *figures) sole(r *request) bool {
	active := f.active[r.consumer]
	for i, n := range active {
		if int32(i) != r.server && n <= active[r.server] {
			return false
		}
	}
	return true
}

func (f *figures) ended(r *request) {
	if f.seconds != nil {
		f.active[r.consumer][r.server]--
	}
}

// measure counts the end of a measured request. One that failed counts as if it had
// taken until the deadline.
func (f *figures) measure(now int64, r *request, a answer) {
	took := time.Duration(now - r.at)
	f.answers[a]++
	if a != served {
		took = f.s.Deadline
		if a != nowhere {
			f.servers[r.server].errors++
		}
	}
	f.all.add(took)
	if f.seconds != nil {
		s := f.second(r.at)
		s.times.add(took)
		if a != served {
			s.bad++
		}
		f.record(r, took, a)
	}
}

// worked counts CPU time that was spent evenly between two moments.
func (f *figures) worked(v *server, from, to int64, cpu float64) {
	a, b := max(from, 0), min(to, f.end)
	if a >= b {
		return
	}
	part := cpu / float64(to-from)
	f.servers[v.id].busy += part * float64(b-a)
	if f.seconds == nil {
		return
	}
	for a < b {
		next := min(b, (a/int64(time.Second)+1)*int64(time.Second))
		f.second(a).busy[v.id] += part * float64(next-a)
		a = next
	}
}

func (f *figures) missed(now int64) {
	if f.measured(now) {
		f.misses++
	}
}
