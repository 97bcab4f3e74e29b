package sim

import (
	"math"
	"time"
)

// slow returns how many times as long a request takes on a worker at this age of
// the process and after this many requests.
func (k *Cold) slow(age time.Duration, served int) float64 { return k.curve(k.Slow, age, served) }

// cpu is the same for what it takes of the CPU.
func (k *Cold) cpu(age time.Duration, served int) float64 { return k.curve(k.CPU, age, served) }

func (k *Cold) curve(factor float64, age time.Duration, served int) float64 {
	switch {
	case k.Requests > 0:
		return 1 + (factor-1)*math.Exp(-float64(served)/k.Requests)
	case age < k.For:
		return factor
	case age < k.For+k.Heal:
		left := 1 - float64(age-k.For)/float64(k.Heal)
		return 1 + (factor-1)*left
	}
	return 1
}
