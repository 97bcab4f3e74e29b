package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// busyScenario has something of everything.
func busyScenario() *Scenario {
	return &Scenario{
		Name: "busy", Duration: 12 * time.Second, Settle: time.Second, Load: 0.6, Consumers: 4,
		Requests: []Request{{Share: 9, Mean: 5 * time.Millisecond}, {Mean: 40 * time.Millisecond, CV: 2, Wait: 10 * time.Millisecond}},
		Keys:     &Keys{Count: 500, Hot: 0.1},
		Long:     &Long{Each: 1.5, Lasts: 5 * time.Second},
		Providers: []Provider{
			{Count: 2, Cache: &Cache{Keys: 100, Hits: 0.5}, Faults: []Fault{{At: 2 * time.Second, For: 50 * time.Millisecond, Every: 2 * time.Second, Pause: true}}},
			{Faults: []Fault{{At: 4 * time.Second, For: 2 * time.Second, Error: 0.5}, {At: 8 * time.Second, For: time.Second, Slow: 4}}},
			{Sharing: true, Threads: 50, Faults: []Fault{{At: 3 * time.Second, For: 3 * time.Second, Kill: true}}, Cold: &Cold{Slow: 5, Requests: 100}},
			{Joins: At(2 * time.Second), Cold: &Cold{Slow: 3, For: 2 * time.Second, Heal: time.Second}, Leaked: 1},
			{Faults: []Fault{{At: 5 * time.Second, For: 2 * time.Second, Leave: true}}},
		},
	}
}

// choose gives the consumers of a world their policy.
func choose(t *testing.T, w *world, policy string) {
	t.Helper()
	one, err := find(policy, nil)
	require.NoError(t, err)
	require.NoError(t, w.choose(t.Context(), one))
}

func TestUnknownPolicy(t *testing.T) {
	_, err := Run(t.Context(), busyScenario(), Options{Policy: "leastactiv"})
	require.Error(t, err)
	assert.Contains(t, err.Error(), `unknown policy "leastactiv", did you mean "leastactive"?`)
}
