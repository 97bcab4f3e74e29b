//go:build unix

package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer"
)

// Ending is a way to end a member.
type Ending struct {
	name string
	end  func(Member) error
	// excuses tells which failures may come of it.
	excuses func(f Failure, m Member, began, ended time.Time) bool
}

func (e Ending) String() string { return e.name }

// Stop is SIGTERM: no call fails. Kill is SIGKILL: those fail that are under way there,
// at once.
var (
	Stop = Ending{"stop", func(m Member) error { return m.Stop() },
		func(Failure, Member, time.Time, time.Time) bool { return false }}
	Kill = Ending{"kill -9", func(m Member) error { return m.Kill() }, underWay}
)

// AtOnce is how soon a call fails whose provider was killed. It is far below the
// timeout of calls; the machine may be busy.
const AtOnce = time.Second

// underWay reports whether a call can have been at the member while it was killed.
func underWay(f Failure, m Member, began, ended time.Time) bool {
	var e *gofer.Error
	return errors.As(f.Err, &e) && errors.Is(e, gofer.ErrNetwork) && e.Provider == m.Addr && e.Sent &&
		!f.Began.After(ended) && !f.Ended.Before(began) && f.Ended.Sub(ended) < AtOnce
}

// patience is how long a member that has been started may take until it serves.
const patience = 30 * time.Second

// Roll ends and starts the members in turn, each time until it is used again. The
// error tells what went wrong, calls that failed without excuse above all.
func Roll(ctx context.Context, l *Load, how Ending, members ...Member) error {
	for _, m := range members {
		before := len(l.Report().Failures)
		began := time.Now()
		if err := how.end(m); err != nil {
			return fmt.Errorf("%s of %s: %w", how, m.Name, err)
		}
		ended := time.Now()
		if err := m.Start(ctx); err != nil {
			return fmt.Errorf("start of %s: %w", m.Name, err)
		}
		wait, cancel := context.WithTimeout(ctx, patience)
		err := l.Await(wait, m, 20)
		cancel()
		if err != nil {
			return fmt.Errorf("after %s and start: %w", how, err)
		}
		failures := l.Report().Failures[before:]
		for _, f := range failures {
			if !how.excuses(f, m, began, ended) {
				return fmt.Errorf("%d calls failed around %s of %s, at least one without excuse, %v after it: %s",
					len(failures), how, m.Name, f.Ended.Sub(ended).Round(time.Millisecond), f)
			}
		}
		if len(failures) > l.Callers() {
			return fmt.Errorf("%d calls failed at %s of %s: at most %d were under way", len(failures), how, m.Name, l.Callers())
		}
	}
	return nil
}
