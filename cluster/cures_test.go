package cluster_test

import "testing"

// The known faults of Dubbo that are cured where providers are selected; the list of all
// is in package loadbalance.
func TestCures(t *testing.T) {
	t.Run("F14 who waits gets the slot in turn", TestFirstComeFirstServed)
	t.Run("F15 free providers first, one deadline", TestFreeProviderIsTakenFirst)
	t.Run("F26 sticky per method", TestStickyPerMethod)
	t.Run("F27 what most providers say", TestLoadBalanceOfAMethod)
}
