package sim

// javaRandom is "random" of Dubbo 3.3: it looks at weights only if the first
// provider has the parameter "weight" or a timestamp, which behind ZooKeeper it has
// not (F1, F22).
type javaRandom struct{ all []int }

func newJavaRandom(*world) javaRule { return new(javaRandom) }

func (b *javaRandom) choose(j *java, _ *request) int {
	if !j.at(0).weighted {
		return j.rng.IntN(len(j.list))
	}
	return j.drawn(b.positions(len(j.list)), j.weight33)
}

func (b *javaRandom) positions(n int) []int {
	for i := len(b.all); i < n; i++ {
		b.all = append(b.all, i)
	}
	return b.all[:n]
}
