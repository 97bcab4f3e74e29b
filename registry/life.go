package registry

import (
	"cmp"
	"slices"
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

// life is one run of a provider's process, told from others by the start that the
// provider says it had.
type life struct {
	millis int64     // as the provider says, 0 when it does not
	start  time.Time // as believed
	shown  uint64    // the list that has shown it to be later than those before it
}

// mostLives is how many lives of a provider are remembered, unless more are listed.
const mostLives = 8

// lives are those of one provider, the one in force last. What counts is when this
// consumer saw them first, not what they say: a process whose clock is behind is
// still the one that was started last, though its predecessor's entry stays until
// the session expires (F18). An entry that was there before begins no life, whether
// it never left or comes back.
type lives []life

// see adds the lives that are new among the entries of a list, and takes note of
// one that has outlived another of which no list has told which came first.
func (l *lives) see(records []*record, list uint64) {
	var fresh []life
	for _, r := range records {
		same := func(x life) bool { return x.millis == r.millis }
		if !slices.ContainsFunc(*l, same) && !slices.ContainsFunc(fresh, same) {
			fresh = append(fresh, life{r.millis, r.seen.start(r.millis), list})
		}
	}
	slices.SortFunc(fresh, func(a, b life) int { return cmp.Compare(a.millis, b.millis) })
	*l = append(*l, fresh...)
	l.outlived(records, list)
	for i := 0; len(*l) > mostLives && i < len(*l)-1; {
		if listed(records, (*l)[i].millis) {
			i++
		} else {
			*l = slices.Delete(*l, i, i+1)
		}
	}
}

// outlived puts the latest listed life in force when the one that is was first seen in
// the same list and has gone.
func (l *lives) outlived(records []*record, list uint64) {
	last := len(*l) - 1
	for i := last; i >= 0 && (*l)[i].shown == (*l)[last].shown; i-- {
		if x := (*l)[i]; listed(records, x.millis) {
			if i < last {
				x.shown = list
				*l = append(slices.Delete(*l, i, i+1), x)
			}
			return
		}
	}
}

// order is the place of an entry's life among the others, the later the greater.
func (l lives) order(r *record) int {
	return slices.IndexFunc(l, func(x life) bool { return x.millis == r.millis })
}

func (l lives) latest() life { return l[len(l)-1] }

func listed(records []*record, millis int64) bool {
	return slices.ContainsFunc(records, func(r *record) bool { return r.millis == millis })
}

const (
	rememberFor  = time.Hour
	rememberMost = 16384
)

// departed remembers the lives of providers that left the list. One that comes
// back as the same process (a lost session of the provider, a list cut short) has
// not restarted: it keeps the start it had, and with it its warm-up.
type departed struct {
	lives map[string]departedLives
	swept time.Time
}

type departedLives struct {
	lives lives
	left  time.Time
}

func (d *departed) add(key string, l lives, now time.Time) {
	if d.lives == nil {
		d.lives = map[string]departedLives{}
	}
	d.lives[key] = departedLives{l, now}
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

// take returns the lives of a provider that left, and forgets them.
func (d *departed) take(key string) lives {
	l := d.lives[key].lives
	delete(d.lives, key)
	return l
}
