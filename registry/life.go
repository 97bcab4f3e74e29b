package registry

import (
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// sighting bounds when the provider of an entry can have started: not before the
// last list without the entry was read, and not after the first one with it. For
// the first list of all, after is the zero time.
type sighting struct{ after, before time.Time }

// start corrects what a provider says of its start, whose clock may be wrong: one
// that is ahead would keep the weight at 1 for long, one that is behind would
// skip the warm-up (F18). It is the zero time when the provider says nothing.
func (s sighting) start(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	t := time.UnixMilli(ms)
	if t.Before(s.after) {
		t = s.after
	}
	if t.After(s.before) {
		t = s.before
	}
	return t
}

// startMillis is the start as the provider says it, 0 when it does not.
func startMillis(u url.URL) int64 {
	ms, _ := u.StartTime()
	return ms
}

const (
	rememberFor  = time.Hour
	rememberMost = 16384
)

// departed remembers the lives of providers that left the list. One that comes
// back as the same process (a lost session of the provider, a list cut short) has
// not restarted: it keeps the start it had, and with it its warm-up.
type departed struct {
	lives map[string]departedLife
	swept time.Time
}

type departedLife struct {
	millis int64     // as the provider says
	start  time.Time // as believed
	left   time.Time
}

func (d *departed) add(key string, millis int64, start, now time.Time) {
	if millis == 0 {
		return
	}
	if d.lives == nil {
		d.lives = map[string]departedLife{}
	}
	d.lives[key] = departedLife{millis, start, now}
	if now.Sub(d.swept) > rememberFor/4 || len(d.lives) > rememberMost {
		d.sweep(now)
	}
}

// sweep forgets what is old, and half of all when that is too much.
func (d *departed) sweep(now time.Time) {
	d.swept = now
	crowded := len(d.lives) > rememberMost
	for key, l := range d.lives {
		if now.Sub(l.left) > rememberFor || crowded && len(d.lives) > rememberMost/2 {
			delete(d.lives, key)
		}
	}
}

// take returns the believed start of a life that left, and forgets it.
func (d *departed) take(key string, millis int64) (start time.Time, ok bool) {
	l, found := d.lives[key]
	if !found {
		return time.Time{}, false
	}
	delete(d.lives, key)
	return l.start, l.millis == millis
}
