package sim

import "time"

// Call is one measured request, for figures of one's own: see [Options.Calls].
type Call struct {
	At       time.Duration // when it came, since the beginning of the measured time
	Took     time.Duration // until it had its answer; until the deadline if it failed
	Provider int           // -1: there was nobody to ask
	Failed   bool
	// Sole: its consumer had fewer calls under way there than anywhere else.
	Sole bool
}

// record tells of the end of a measured request.
func (f *figures) record(r *request, took time.Duration, a answer) {
	if f.calls != nil {
		f.calls(Call{At: time.Duration(r.at), Took: took, Provider: int(r.server), Failed: a != served, Sole: r.sole})
	}
}
