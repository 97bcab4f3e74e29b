package cluster

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

// No more than so many ejections and returns are logged in a time.
const (
	newsLines  = 20
	newsPeriod = 10 * time.Second
)

// budget bounds what is logged.
type budget struct {
	since  time.Time
	lines  int
	missed int
}

// spend reports whether one more line may be logged, and how many were not since
// the last one.
func (b *budget) spend(at time.Time) (ok bool, missed int) {
	if b.since.IsZero() || at.Sub(b.since) >= newsPeriod {
		*b = budget{since: at, missed: b.missed}
	}
	if b.lines == newsLines {
		b.missed++
		return false, 0
	}
	b.lines++
	missed, b.missed = b.missed, 0
	return true, missed
}

// news is an ejection or a return that is to be logged.
type news struct {
	record   *record
	ejected  bool
	why      string
	pause    time.Duration
	failures int
	trips    int
	limits   bool
	last     error
	missed   int
}

// tell notes the state that a provider has now, to be logged when the lock is free.
func (o *Outliers) tell(r *record, at time.Time, why string) {
	ok, missed := o.logged.spend(at)
	if !ok {
		return
	}
	o.news = append(o.news, news{
		record: r, ejected: r.out.Load(), why: why, pause: r.until.Sub(r.since), failures: int(r.failures.Load()),
		trips: r.trips, limits: r.limits, last: r.last, missed: missed,
	})
}

func (n news) write(log *zap.Logger) {
	fields := []zap.Field{zap.String("provider", n.record.node.Address())}
	if n.missed > 0 {
		fields = append(fields, zap.Int("notLogged", n.missed))
	}
	if !n.ejected {
		if n.why == "" {
			n.why = "a call has succeeded there"
		}
		log.Info("a provider that was ejected is back", append(fields, zap.String("reason", n.why))...)
		return
	}
	message := "a provider is ejected: it fails"
	if n.limits {
		message = "a provider is ejected: it refuses all calls for a limit of its own (executes, thread pool)"
	}
	if errors.As(n.last, new(*silentError)) {
		message = "a provider is ejected: it answers nothing before its callers give up"
	}
	fields = append(fields, zap.Int("failures", n.failures), zap.Duration("pause", n.pause), zap.Int("ejections", n.trips))
	if n.last != nil {
		fields = append(fields, zap.String("last", brief(protocol.AsError(n.last))))
	}
	log.Warn(message, fields...)
}
