//go:build !race

package registry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestB185ListAllocates: a call's look at the list costs nothing, however long it is.
func TestB185ListAllocates(t *testing.T) {
	d, _, _ := many(t, 1000, "version=1.0.0")
	n := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		n += d.List().Candidates.Len()
		l, _ := d.Watch()
		n += l.Candidates.Len()
	}))
	assert.Equal(t, 2*101*1000, n)
}

// TestNotifyIsProportional: a changed provider costs the same number of
// allocations among 10,000 as among 100: nothing is done again for the others.
func TestNotifyIsProportional(t *testing.T) {
	allocs := func(n int) float64 {
		d, w, entries := many(t, n, "version=1.0.0")
		made, i := w.made(), 0
		changed := make([]*Entry, 200)
		for j := range changed {
			changed[j] = &Entry{Raw: fmt.Sprintf("%s&weight=%d", entries[n/2].Raw, j)}
			changed[j].URL = parse(t, changed[j].Raw)
		}
		allocs := testing.AllocsPerRun(100, func() {
			entries[n/2] = changed[i]
			i++
			d.Notify(Snapshot{Providers: entries, Read: time.Now()})
		})
		for _, node := range d.List().Candidates.Nodes() {
			if node.Address() == entries[n/2].URL.Address() {
				assert.Equal(t, fmt.Sprint(i-1), node.URL().Param("weight"))
			}
		}
		assert.Equal(t, made, w.made())
		return allocs
	}
	few, lots := allocs(100), allocs(10_000)
	assert.InDelta(t, few, lots, 3)
	assert.Less(t, lots, 80.0)
}
