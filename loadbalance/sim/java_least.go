package sim

// javaLeastActive is "leastactive" of Dubbo 2.7.23: whoever alone has the fewest
// calls under way gets the call, whatever its weight (F3); of several one is drawn by
// weight. -1 calls, which Java's counter can reach, look like no provider at all
// (F13).
type javaLeastActive struct{ least []int }

func newJavaLeastActive(*world) javaRule { return new(javaLeastActive) }

func (b *javaLeastActive) choose(j *java, _ *request) int {
	fewest := int32(-1)
	for i := range j.list {
		switch a := j.at(i).status.active; {
		case fewest == -1 || a < fewest:
			fewest = a
			b.least = append(b.least[:0], i)
		case a == fewest:
			b.least = append(b.least, i)
		}
	}
	if len(b.least) == 1 {
		return b.least[0]
	}
	return j.drawn(b.least, j.weight27)
}

// javaShortestResponse is "shortestresponse": the least product of the mean time of
// the answers and the calls under way, plus one. Who has not answered yet counts as
// infinitely fast, and failures not at all (F4).
type javaShortestResponse struct {
	window  bool  // of 30 s, as since 3.0.3; else since the process began
	updated int64 // ms, when the window began
	offsets []javaStatus
	least   []int
}

const slidePeriod = 30_000 // ms

func newJavaShortestResponse27(*world) javaRule { return new(javaShortestResponse) }

func newJavaShortestResponse33(w *world) javaRule {
	return &javaShortestResponse{window: true, updated: clock(w.now).UnixMilli(), offsets: make([]javaStatus, len(w.servers))}
}

func (b *javaShortestResponse) choose(j *java, _ *request) int {
	var shortest int64
	b.least = b.least[:0]
	for i := range j.list {
		estimate := b.mean(j, i) * int64(j.at(i).status.active+1)
		switch {
		case len(b.least) == 0 || estimate < shortest:
			shortest = estimate
			b.least = append(b.least[:0], i)
		case estimate == shortest:
			b.least = append(b.least, i)
		}
	}
	if b.window && j.ms()-b.updated > slidePeriod { // tumbling: right afterwards nobody has answered (F21)
		for i := range b.offsets {
			b.offsets[i] = j.known[i].status
		}
		b.updated = j.ms()
	}
	if len(b.least) == 1 {
		return b.least[0]
	}
	if b.window {
		return j.drawn(b.least, j.weight33)
	}
	return j.drawn(b.least, j.weight27)
}

// mean is the mean time of the answers in whole ms, 0 without one.
func (b *javaShortestResponse) mean(j *java, i int) int64 {
	s := &j.at(i).status
	n, elapsed := s.succeeded(), s.succeededElapsed()
	if b.window {
		o := &b.offsets[j.list[i]]
		n, elapsed = n-o.succeeded(), elapsed-o.succeededElapsed()
	}
	if n == 0 {
		return 0
	}
	return elapsed / n
}
