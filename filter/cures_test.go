package filter_test

import "testing"

// The known faults of Dubbo that are cured where attempts are counted; the list of all is
// in package loadbalance.
func TestCures(t *testing.T) {
	t.Run("F12 a limit exceeded further in frees the slot", TestB098LimitExceededFromBelow)
	t.Run("F13 what never began never ends", TestWhatNeverBeganNeverEnds)
}
