package sim

// javaWeightedLeastActive is no rule of Dubbo's but the cure that is usually proposed
// for F3: the weight counts for whoever alone has the fewest calls, too. It takes the
// least (calls under way + 1) / weight, with the weights of 2.7.23; of equals one is
// drawn by weight.
type javaWeightedLeastActive struct{ least []int }

func newJavaWeightedLeastActive(*world) javaRule { return new(javaWeightedLeastActive) }

func (b *javaWeightedLeastActive) choose(j *java, _ *request) int {
	b.least = b.least[:0]
	var load, weight int64 // of those in least
	for i := range j.list {
		l, w := int64(j.at(i).status.active)+1, int64(j.weight27(i))
		switch {
		case w == 0:
		case len(b.least) == 0 || l*weight < load*w:
			load, weight = l, w
			b.least = append(b.least[:0], i)
		case l*weight == load*w:
			b.least = append(b.least, i)
		}
	}
	if len(b.least) == 0 { // nobody has a weight
		return j.rng.IntN(len(j.list))
	}
	return j.drawn(b.least, j.weight27)
}
