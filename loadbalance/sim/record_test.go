package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryMeasuredCallIsTold(t *testing.T) {
	for _, policy := range []string{"java-leastactive", "leastload"} {
		var all histogram
		calls, sole := make([]int, 7), make([]int, 7)
		nowhere, failed := 0, 0
		r, err := Run(t.Context(), busyScenario(), Options{Policy: policy, Seed: 3, Detail: true, Calls: func(c Call) {
			assert.True(t, c.At >= 0 && c.At < 12*time.Second)
			all.add(c.Took)
			if c.Failed {
				failed++
				assert.Equal(t, time.Second, c.Took, "the deadline")
			}
			if c.Provider < 0 {
				nowhere++
				return
			}
			calls[c.Provider]++
			if c.Sole {
				sole[c.Provider]++
			}
		}})
		require.NoError(t, err)
		assert.Equal(t, r.Requests, all.n)
		assert.Equal(t, r.P99, all.quantile(0.99))
		assert.Equal(t, r.Mean, all.mean())
		assert.Equal(t, r.Failed, failed)
		assert.Equal(t, r.NoOne, nowhere)
		for i, p := range r.Providers {
			assert.Equal(t, p.Calls, calls[i], "%s: provider %d", policy, i)
			assert.Equal(t, p.Sole, sole[i], "%s: provider %d", policy, i)
		}
	}
}

// TestLongRequestsTakeCPU compares two runs that differ in nothing else.
func TestLongRequestsTakeCPU(t *testing.T) {
	s := &Scenario{
		Name: "cpu", Duration: 20 * time.Second, Rate: 50, Consumers: 2,
		Long:      &Long{Each: 5, Lasts: 10 * time.Second},
		Providers: []Provider{{Count: 2, Workers: 4}},
	}
	run := func(policy string, cpu float64) *Result {
		s.Long.CPU = cpu
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1, Detail: true})
		require.NoError(t, err)
		return r
	}
	for _, policy := range []string{"java-leastactive", "random"} {
		without, with := run(policy, 0), run(policy, 0.1)
		assert.Equal(t, without.P99, with.P99, "they slow nobody")
		sum := 0.0
		for i := range with.Providers {
			more := with.Providers[i].CPU - without.Providers[i].CPU
			assert.Positive(t, more)
			sum += more
			each := 0.0
			for k := range with.Seconds {
				each += with.Seconds[k].CPU[i] / float64(len(with.Seconds))
			}
			assert.InDelta(t, with.Providers[i].CPU, each, 1e-9)
		}
		assert.InDelta(t, 2*10*0.1/4, sum, 1e-9, "there are always 5 for each of 2 consumers and 2 providers: 20 × 0.1 of 4 cores")
	}
	s.Long.CPU = 1.5
	assert.ErrorContains(t, s.Check(), "scenario cpu: long.cpu: 1.5 is not between 0 and 1")
}

func TestTheWeightOfAUniqueMinimumCounts(t *testing.T) {
	newcomer := func(policy string, weight int) float64 {
		s := &Scenario{
			Name: "w", Duration: 10 * time.Second, Rate: 300,
			Providers: []Provider{{Count: 2, Weight: 100}, {Weight: weight}},
		}
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1})
		require.NoError(t, err)
		return r.Providers[2].Share
	}
	assert.Greater(t, newcomer("java-leastactive", 1), 0.10, "Java skips it")
	assert.Less(t, newcomer("java-leastactive-weighted", 1), 0.01)
	assert.InDelta(t, 1.0/3, newcomer("java-leastactive-weighted", 100), 0.02)

	s := &Scenario{
		Name: "zero", Duration: time.Second, Rate: 300,
		Providers: []Provider{{Count: 3, Params: map[string]string{"weight": "0"}}},
	}
	r, err := Run(t.Context(), s, Options{Policy: "java-leastactive-weighted", Seed: 1})
	require.NoError(t, err)
	for _, p := range r.Providers {
		assert.InDelta(t, 1.0/3, p.Share, 0.1, "nobody has a weight")
	}
}
