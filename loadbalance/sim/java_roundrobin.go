package sim

import "math"

// smoothly is "roundrobin" of Dubbo 2.6.5 … 3.3: smooth weighted round robin, with a
// state by address.
type smoothly struct{ state map[string]*turns }

type turns struct {
	weight  int32
	current int64
	updated int64 // ms
}

const recyclePeriod = 60_000 // ms

// next takes a turn. A changed weight makes the provider lose its credit (F10), the
// sum is of 32 bits (F16), and nobody looks whether a weight is 0 (F11).
func (s *smoothly) next(ids []string, weight func(i int) int32, now int64) int {
	if s.state == nil {
		s.state = map[string]*turns{}
	}
	var total int32
	best, chosen := int64(math.MinInt64), -1
	for i, id := range ids {
		w := max(weight(i), 0)
		t := s.state[id]
		if t == nil {
			t = &turns{weight: w}
			s.state[id] = t
		}
		if t.weight != w {
			t.weight, t.current = w, 0
		}
		t.current += int64(w)
		t.updated = now
		if t.current > best {
			best, chosen = t.current, i
		}
		total += w
	}
	if len(ids) != len(s.state) {
		for id, t := range s.state {
			if now-t.updated > recyclePeriod {
				delete(s.state, id)
			}
		}
	}
	s.state[ids[chosen]].current += int64(-total)
	return chosen
}

// javaRoundRobin is it with the weights of 2.7.23.
type javaRoundRobin struct {
	smoothly
	ids  []string
	seen int
}

func newJavaRoundRobin(*world) javaRule { return &javaRoundRobin{seen: -1} }

func (b *javaRoundRobin) choose(j *java, _ *request) int {
	if b.seen != j.seen {
		b.seen, b.ids = j.seen, b.ids[:0]
		for i := range j.list {
			b.ids = append(b.ids, j.at(i).address)
		}
	}
	return b.next(b.ids, j.weight27, j.ms())
}

// sequence is "roundrobin" of Dubbo 2.5.4 … 2.6.4: a counter modulo the sum of the
// weights, so that any change of that makes it jump. The sum is of 32 bits (F16).
type sequence struct{ counter int32 }

// next takes a turn: every round visits everybody who has weight left. It returns -1
// where Java divides by a sum of 0, and the call fails.
func (s *sequence) next(weights []int32) int {
	n := s.counter & math.MaxInt32
	s.counter++
	var most, sum int32
	least := int32(math.MaxInt32)
	for _, w := range weights {
		most, least = max(most, w), min(least, w)
		if w > 0 {
			sum += w
		}
	}
	if most <= 0 || least >= most {
		return int(n) % len(weights)
	}
	if sum == 0 {
		return -1
	}
	at := int64(n % sum)
	for level := int32(0); ; { // of rounds; those that visit the same at once
		of, next := int64(0), most
		for _, w := range weights {
			if w > level {
				of, next = of+1, min(next, w)
			}
		}
		if rounds := int64(next - level); at >= of*rounds {
			at, level = at-of*rounds, next
			continue
		}
		return above(weights, level, at%of)
	}
}

// above returns the position of one of those above a level.
func above(weights []int32, level int32, which int64) int {
	for i, w := range weights {
		if w > level {
			if which == 0 {
				return i
			}
			which--
		}
	}
	return -1
}

type javaLegacyRoundRobin struct {
	sequence
	weights []int32
}

func newJavaLegacyRoundRobin(*world) javaRule { return new(javaLegacyRoundRobin) }

func (b *javaLegacyRoundRobin) choose(j *java, _ *request) int {
	b.weights = b.weights[:0]
	for i := range j.list {
		k := j.at(i)
		b.weights = append(b.weights, int32(weight26(j.ms(), k.start, k.warmup, int64(k.weight))))
	}
	return b.next(b.weights)
}
