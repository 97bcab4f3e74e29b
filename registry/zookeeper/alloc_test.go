//go:build !race

package zookeeper

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// One change in a list of ten thousand costs what one name costs, and two slices.
func TestParseAllocations(t *testing.T) {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = name(fmt.Sprintf("h%05d", i))
	}
	changed := slices.Clone(names)
	changed[5000] += "%26x%3D1"
	var one, all entries
	perName := testing.AllocsPerRun(10, func() { one.parse(changed[5000:5001]); one.parse(nil) })
	got := testing.AllocsPerRun(10, func() { all.parse(names); all.parse(changed) })
	assert.LessOrEqual(t, got, 2*(perName+2))
}
