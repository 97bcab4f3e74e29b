//go:build unix

package drill

import (
	"context"
	"fmt"
	"time"
)

// Frost is what a frozen provider has cost.
type Frost struct {
	Failures []Failure     // since it froze
	Late     time.Duration // from the freeze to the end of the last failed call
	Back     time.Duration // from the thaw until the member served again
}

// Freeze freezes a member for a while, and waits until it serves again.
func Freeze(ctx context.Context, l *Load, m Member, long time.Duration) (f Frost, err error) {
	before := len(l.Report().Failures)
	began := time.Now()
	if err := m.Freeze(); err != nil {
		return f, err
	}
	select {
	case <-time.After(long):
	case <-ctx.Done():
	}
	if err := m.Thaw(); err != nil {
		return f, err
	}
	thawed := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err = l.Await(ctx, m, 20); err != nil {
		err = fmt.Errorf("frozen for %v: %w", long, err)
	}
	f.Back = time.Since(thawed)
	f.Failures = l.Report().Failures[before:]
	for _, x := range f.Failures {
		f.Late = max(f.Late, x.Ended.Sub(began))
	}
	return f, err
}
