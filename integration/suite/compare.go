package suite

import (
	"fmt"
	"maps"
	"slices"
)

// Difference is a fact of a step that is not the same in two worlds.
type Difference struct {
	Row, Step  string
	Fact       string // "step" when one world has no such step
	Real, Fake string // "" is none
}

// String returns two lines, one below the other.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s: %s differs\n  real: %s\n  fake: %s", d.Row, d.Step, d.Fact, d.Real, d.Fake)
}

type place struct{ row, step string }

// Compare returns every fact in which the fake world differs from the real one. An
// observation that only one of them has is a difference, too.
func Compare(real, fake []Observation) []Difference {
	var all []Difference
	fakes := map[place]Outcome{}
	for _, o := range fake {
		fakes[place{o.Row, o.Step}] = o.Outcome
	}
	for _, o := range real {
		at := place{o.Row, o.Step}
		other, there := fakes[at]
		delete(fakes, at)
		if !there {
			all = append(all, Difference{o.Row, o.Step, "step", o.Outcome.String(), ""})
			continue
		}
		all = append(all, compare(at, o.Outcome, other)...)
	}
	for _, o := range fake {
		if outcome, left := fakes[place{o.Row, o.Step}]; left {
			all = append(all, Difference{o.Row, o.Step, "step", "", outcome.String()})
		}
	}
	return all
}

func compare(at place, real, fake Outcome) (all []Difference) {
	facts := maps.Clone(real)
	maps.Copy(facts, fake)
	for _, fact := range slices.Sorted(maps.Keys(facts)) {
		if real[fact] != fake[fact] {
			all = append(all, Difference{at.row, at.step, fact, real[fact], fake[fact]})
		}
	}
	return all
}

// Wrong returns the observations that are not as expected.
func Wrong(all []Observation) []Observation {
	return slices.DeleteFunc(slices.Clone(all), func(o Observation) bool { return o.Wrong == "" })
}
