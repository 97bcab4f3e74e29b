package sim

import "slices"

// mostShared is up to how many requests that share cores are looked at one by one; of
// more, as many stand for all.
const mostShared = 1024

// sharedForecast tells how long a request takes that shares the cores with others, if
// nobody else comes.
type sharedForecast struct {
	left []float64 // ns of work that each of the others still needs, the least first
	each float64   // so many requests each of them stands for
}

// start makes it that of what a server has and of what is on its way there, as if that
// were there already.
func (f *sharedForecast) start(w *world, v *server, slow float64) {
	f.left, f.each = f.left[:0], 1
	jobs, got := v.cores.jobs, v.cores.at(w.now-v.pauses.before(w.now), v.conf.Workers)
	stride := 1
	if all := len(jobs) + v.coming; all > mostShared {
		stride = (all + mostShared - 1) / mostShared
		f.each = float64(stride)
	}
	for i := stride / 2; i < len(jobs); i += stride {
		f.left = append(f.left, max(0, jobs[i].until-got))
	}
	if v.coming > 0 {
		mean := v.onWay / float64(v.coming) * slow
		for range (v.coming + stride/2) / stride {
			f.left = append(f.left, mean)
		}
	}
	slices.Sort(f.left)
}

// takes returns how long work takes that comes after so long, and by how much it holds up
// the others, in all. Who has the least left is finished first, and what is left to the
// others goes on faster then.
func (f *sharedForecast) takes(work, after float64, cores int) (took, others float64) {
	pace := func(n float64) float64 { return max(1, n/float64(cores)) } // ns for a ns of work of each
	there := func(i int) float64 { return float64(len(f.left)-i) * f.each }
	got, i := 0.0, 0
	for ; i < len(f.left); i++ {
		lasts := (f.left[i] - got) * pace(there(i))
		if lasts >= after {
			got += after / pace(there(i))
			break
		}
		got, after = f.left[i], after-lasts
	}
	for until := got + work; got < until; i++ {
		next := until
		if i < len(f.left) {
			next = min(until, f.left[i])
		}
		n := there(i)
		took += (next - got) * pace(n+1)
		others += (next - got) * n * (pace(n+1) - pace(n))
		got = next
	}
	return took, others
}
