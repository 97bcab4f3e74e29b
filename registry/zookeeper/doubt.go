package zookeeper

import (
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/registry"
)

// doubt decides whether a list that was read is believed. One that is suddenly
// empty or lost more than half is more often a registry being restored, or
// providers that register anew, than the truth; so it is believed only if a read
// after a while says the same. Until then the old entries stay, and new ones are
// added. The zero value has no doubt.
type doubt struct {
	since time.Time // when the first doubtful list was read; zero without doubt
}

// judge returns the list to go by, given the one believed so far and the one read
// now, both sorted. If again is not zero the list has to be read again then.
func (d *doubt) judge(believed, read []string, now time.Time, wait time.Duration) (list []string, again time.Time) {
	if wait == 0 || !doubtful(believed, read) {
		d.since = time.Time{}
		return read, time.Time{}
	}
	if d.since.IsZero() {
		d.since = now
	}
	if again = d.since.Add(wait); !now.Before(again) {
		d.since = time.Time{}
		return read, time.Time{}
	}
	return union(believed, read), again
}

func doubtful(believed, read []string) bool {
	return len(read) == 0 && len(believed) > 0 || len(believed) >= 4 && 2*len(read) < len(believed)
}

// sameDoubt reports whether two doubts, nil for none, tell the same.
func sameDoubt(a, b *registry.Doubt) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// union merges two sorted lists; it returns a itself if b adds nothing.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == len(a) {
		return a
	}
	return all
}
