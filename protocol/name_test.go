package protocol

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnknownName(t *testing.T) {
	known := map[string]int{"failover": 1, "failfast": 2, "broadcast": 3}
	assert.EqualError(t, UnknownName("cluster", "failovr", known),
		`unknown cluster "failovr", did you mean "failover"? (known: broadcast, failfast, failover)`)
	assert.EqualError(t, UnknownName("cluster", "xyz", known), `unknown cluster "xyz" (known: broadcast, failfast, failover)`)
	assert.EqualError(t, UnknownName("cluster", "BroadCast", known),
		`unknown cluster "BroadCast", did you mean "broadcast"? (known: broadcast, failfast, failover)`)
}
