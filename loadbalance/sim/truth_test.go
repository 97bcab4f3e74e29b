package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who has taken leave works off what it has: those who know everything know that, too.
func TestReferencesLeaveAloneWhoHasTakenLeave(t *testing.T) {
	s := &Scenario{
		Name: "leave", Duration: 20 * time.Second, Rate: 300,
		Providers: []Provider{{Count: 2}, {Workers: 64, Speed: 3, Faults: []Fault{{At: 5 * time.Second, For: 10 * time.Second, Leave: true}}}},
	}
	for _, policy := range references {
		r, err := Run(t.Context(), s, Options{Policy: policy, Seed: 1, Detail: true})
		require.NoError(t, err)
		assert.Zero(t, r.Failed, policy)
		for second, of := range r.Seconds {
			if second >= 5 && second < 15 {
				assert.Zero(t, of.Calls[2], "%s in second %d", policy, second)
			} else {
				assert.Greater(t, of.Calls[2], 100, "%s in second %d: it is the best", policy, second)
			}
		}
	}
}
