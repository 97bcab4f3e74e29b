package registry

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
)

// startedAt is a provider that says it started at a time.
func startedAt(at time.Time, params string) string {
	return provided("192.0.2.10:20880", fmt.Sprintf("timestamp=%d&%s", at.UnixMilli(), params))
}

// TestF18Start: a provider whose clock is wrong warms up from a moment between the
// last list without it and the first one with it.
func TestF18Start(t *testing.T) {
	const (
		before = -10 * time.Second // the last list without the provider
		seen   = 0 * time.Second
	)
	tests := []struct {
		name        string
		says, first time.Duration // relative to the first list with it, there alone or after another
		want        time.Duration
		later       time.Duration // when another list was there before
	}{
		{"right", -3 * time.Second, 0, -3 * time.Second, -3 * time.Second},
		{"as it is seen", seen, 0, seen, seen},
		{"ahead", time.Hour, 0, seen, seen},
		{"ahead by a millisecond", time.Millisecond, 0, seen, seen},
		{"behind", -time.Hour, 0, -time.Hour, before},
		{"behind by years", -100000 * time.Hour, 0, -100000 * time.Hour, before},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Hour * 24 * 365 * 20)
				r := newRegistered(t)
				entry := startedAt(time.Now().Add(10*time.Second+tt.says), "")
				first, _ := newDirectory(t, "")
				later, _ := newDirectory(t, "")
				later.Notify(r.snapshot())
				time.Sleep(10 * time.Second)
				first.Notify(r.snapshot(entry))
				later.Notify(r.snapshot(entry))
				assert.Equal(t, tt.want, time.Until(node(t, first, 0).Life().Start), "in the first list")
				assert.Equal(t, tt.later, time.Until(node(t, later, 0).Life().Start), "in a later list")
			})
		})
	}
}

// TestF18ReadTime: a list counts from when it was read, not from when it came.
func TestF18ReadTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "")
		r := newRegistered(t)
		s := r.snapshot(startedAt(time.Now().Add(time.Hour), ""))
		time.Sleep(time.Minute)
		d.Notify(s)
		assert.Equal(t, -time.Minute, time.Until(node(t, d, 0).Life().Start))
		s = r.snapshot(startedAt(time.Now().Add(2*time.Hour), ""))
		s.Read = time.Now().Add(time.Hour) // a read cannot be in the future
		d.Notify(s)
		assert.Equal(t, time.Duration(0), time.Until(node(t, d, 0).Life().Start))
	})
}

// TestF18Held: a registry that watches knows better than its last read how long a
// provider was not there.
func TestF18Held(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistered(t)
		old := startedAt(time.Now().Add(-time.Hour), "")
		start := func(read, held time.Duration, lists ...Snapshot) time.Duration {
			d, _ := newDirectory(t, "")
			for _, s := range lists {
				d.Notify(s)
			}
			s := r.snapshot(old)
			s.Read, s.Held = time.Now().Add(read), time.Now().Add(held)
			d.Notify(s)
			return time.Until(node(t, d, 0).Life().Start)
		}
		empty := r.snapshot()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, -time.Second, start(0, -time.Second, empty))
		assert.Equal(t, -10*time.Minute, start(0, -20*time.Minute, empty), "the read is later")
		assert.Equal(t, -time.Second, start(-time.Second, 0, empty), "never after it was seen")
		assert.Equal(t, -70*time.Minute, start(0, -time.Second), "the first list says nothing")
	})
}

// TestUnknownStart: without a timestamp there is no warm-up, and no number that is
// none makes one.
func TestUnknownStart(t *testing.T) {
	d, _ := newDirectory(t, "")
	r := newRegistered(t)
	for _, ts := range []string{"", "timestamp=", "timestamp=abc", "timestamp=0", "timestamp=-5", "timestamp=99999999999999999999"} {
		d.Notify(r.snapshot(provided("192.0.2.10:20880", ts)))
		assert.Zero(t, node(t, d, 0).Life().Start, ts)
	}
	// Dubbo 2.6 has another name for it.
	d, _ = newDirectory(t, "")
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "remote.timestamp=5000")))
	assert.Equal(t, time.UnixMilli(5000), node(t, d, 0).Life().Start)
}

// TestRestart: a new timestamp is a new life in the same node; nothing else is.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, w := newDirectory(t, "")
		r := newRegistered(t)
		born := time.Now().Add(-time.Hour)
		d.Notify(r.snapshot(startedAt(born, "")))
		n, life := node(t, d, 0), node(t, d, 0).Life()
		life.Status(0).Begin(0)

		time.Sleep(time.Minute)
		d.Notify(r.snapshot(startedAt(born, "weight=50&pid=2")))
		assert.Same(t, life, n.Life(), "other parameters")

		time.Sleep(time.Minute)
		born = time.Now().Add(-5 * time.Second)
		d.Notify(r.snapshot(startedAt(born, "weight=50&pid=2")))
		require.NotSame(t, life, n.Life(), "another start")
		assert.True(t, born.Equal(n.Life().Start))
		assert.Equal(t, 0, n.Status(0).Active())
		assert.Equal(t, 1, life.Status(0).Active(), "the call ends where it began")
		assert.Equal(t, 1, w.made())

		// Two restarts within one moment, corrected to the same start, are two.
		life = n.Life()
		d.Notify(r.snapshot(startedAt(time.Now().Add(time.Hour), "")))
		second := n.Life()
		assert.NotSame(t, life, second)
		d.Notify(r.snapshot(startedAt(time.Now().Add(2*time.Hour), "")))
		assert.NotSame(t, second, n.Life())
		assert.Less(t, time.Until(n.Life().Start), time.Microsecond)
	})
}

// TestComeback: a provider that was out of the list and is the same process has
// not restarted; another process has.
func TestComeback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "")
		r := newRegistered(t)
		born := time.Now().Add(-time.Hour)
		was := startedAt(born, "")
		d.Notify(r.snapshot(was))
		time.Sleep(time.Minute)
		d.Notify(r.snapshot())
		time.Sleep(time.Minute)
		d.Notify(r.snapshot(was))
		assert.True(t, born.Equal(node(t, d, 0).Life().Start), "no second warm-up")

		d.Notify(r.snapshot())
		gone := time.Now()
		time.Sleep(time.Minute)
		d.Notify(r.snapshot(startedAt(born.Add(time.Millisecond), "")))
		assert.True(t, gone.Equal(node(t, d, 0).Life().Start), "its clock is behind")

		d.Notify(r.snapshot())
		time.Sleep(2 * rememberFor)
		d.Notify(r.snapshot(provided("192.0.2.11:20880", "timestamp=1")))
		d.Notify(r.snapshot())
		assert.Len(t, d.departed.lives, 1, "forgotten after a while")
	})
}

// TestRestartClockBehind: a provider whose clock is an hour behind is killed and
// started again. While the entry of its dead session is listed beside the new one, the
// new one counts: it was seen later, whatever it says (F18).
func TestRestartClockBehind(t *testing.T) {
	for _, clock := range []time.Duration{-time.Hour, 0, time.Hour} {
		t.Run(clock.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, w := newDirectory(t, "")
				r := newRegistered(t)
				was := startedAt(time.Now(), "weight=1")
				d.Notify(r.snapshot(was))
				n := node(t, d, 0)
				time.Sleep(10 * time.Minute)
				d.Notify(r.snapshot(was, provided("192.0.2.11:20880", "")))
				old, read := n.Life(), time.Now()

				time.Sleep(5 * time.Second)
				is := startedAt(time.Now().Add(clock), "weight=2")
				time.Sleep(time.Second)
				start := read // not before the list without it
				switch {
				case clock == 0:
					start = time.Now().Add(-time.Second)
				case clock > 0:
					start = time.Now() // not after the first with it
				}
				d.Notify(r.snapshot(was, is))
				life := n.Life()
				require.NotSame(t, old, life)
				assert.Equal(t, start, life.Start)
				assert.Equal(t, "2", n.URL().Param("weight"))
				assert.Equal(t, "older entry of a provider that is listed again", d.List().Funnel.Refused[0].Reason)

				// The old session expires; its entry comes back once, or stays alone: no life of it.
				for _, list := range [][]string{{is}, {was, is}, {is}, {was}, {was, is}, {}, {was}, {is}, {was, is}} {
					time.Sleep(time.Minute)
					d.Notify(r.snapshot(list...))
					if len(list) == 0 {
						continue
					}
					want := "2"
					if !slices.Contains(list, is) {
						want = "1"
					}
					assert.Equal(t, want, node(t, d, 0).URL().Param("weight"), "the parameters of who is listed")
					assert.Equal(t, start, node(t, d, 0).Life().Start, "%d listed", len(list))
					if node(t, d, 0) == n {
						assert.Same(t, life, n.Life())
					}
				}
				assert.Equal(t, 3, w.made(), "the connection went with the entries, once")
			})
		})
	}
}

// TestFirstListOfTwoLives: the first list tells no order of the entries that it has;
// the later start counts. When that one goes the other has turned out to be the one that
// lives, and keeps being it.
func TestFirstListOfTwoLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "")
		r := newRegistered(t)
		now := time.Now()
		late, early := startedAt(now.Add(-time.Minute), "weight=1"), startedAt(now.Add(-time.Hour), "weight=2")
		d.Notify(r.snapshot(early, late))
		n := node(t, d, 0)
		life := n.Life()
		assert.Equal(t, now.Add(-time.Minute), life.Start)
		assert.Equal(t, "1", n.URL().Param("weight"))

		time.Sleep(time.Minute)
		d.Notify(r.snapshot(early))
		assert.NotSame(t, life, n.Life())
		assert.Equal(t, now.Add(-time.Hour), n.Life().Start)
		life = n.Life()

		time.Sleep(time.Minute)
		d.Notify(r.snapshot(late, early))
		assert.Same(t, life, n.Life())
		assert.Equal(t, "2", n.URL().Param("weight"))
	})
}

// TestCachedThenRestarted: what only the registry lists came after what the cache file
// had, be it later by its own clock or not.
func TestCachedThenRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24 * time.Hour)
		d, _ := newDirectory(t, "")
		r := newRegistered(t)
		was, is := startedAt(time.Now().Add(-time.Hour), ""), startedAt(time.Now().Add(-3*time.Hour), "")
		cached := r.snapshot(was)
		cached.Stale, cached.Cached, cached.Read = true, true, time.Now().Add(-10*time.Minute)
		d.Notify(cached)
		assert.Equal(t, -time.Hour, time.Until(node(t, d, 0).Life().Start))
		d.Notify(r.snapshot(was, is))
		assert.Equal(t, -10*time.Minute, time.Until(node(t, d, 0).Life().Start))
	})
}

// TestOneLifeOfManyEntries: an entry with other parameters and the same start is the
// same process. The latest counts, whatever its name.
func TestOneLifeOfManyEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "")
		r := newRegistered(t)
		born := time.Now().Add(-time.Hour)
		d.Notify(r.snapshot(startedAt(born, "weight=5")))
		n, life := node(t, d, 0), node(t, d, 0).Life()
		for _, weight := range []string{"9", "1", "5"} {
			time.Sleep(time.Minute)
			d.Notify(r.snapshot(startedAt(born, "weight="+n.URL().Param("weight")), startedAt(born, "weight="+weight)))
			assert.Equal(t, weight, n.URL().Param("weight"))
			assert.Same(t, life, n.Life())
			d.Notify(r.snapshot(startedAt(born, "weight="+weight)))
			assert.Same(t, life, n.Life())
		}
	})
}

// TestLivesAreBounded: a provider that is started again and again is remembered by a
// few of its lives, and those that are listed.
func TestLivesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "")
		r := newRegistered(t)
		first := startedAt(time.Now(), "")
		d.Notify(r.snapshot(first))
		n := node(t, d, 0)
		for range 10 * mostLives {
			time.Sleep(time.Minute)
			life := n.Life()
			d.Notify(r.snapshot(first, startedAt(time.Now(), "")))
			assert.NotSame(t, life, n.Life())
			assert.Equal(t, time.Now(), n.Life().Start)
		}
		p := d.roster.byKey[n.Key()]
		assert.LessOrEqual(t, len(p.lives), mostLives)
		life := n.Life()
		d.Notify(r.snapshot(first))
		assert.Same(t, life, n.Life(), "the first entry never left: it is older")
	})
}

func TestDepartedIsBounded(t *testing.T) {
	var d departed
	now := time.Now()
	for i := range 3 * rememberMost {
		d.add(fmt.Sprint(i), lives{{millis: 1}}, now)
	}
	assert.LessOrEqual(t, len(d.lives), rememberMost)
	last := fmt.Sprint(3*rememberMost - 1)
	known := lives{{millis: 7, start: now}}
	d.add(last, known, now)
	assert.Equal(t, known, d.take(last))
	assert.Empty(t, d.take(last), "taken once")
}

// TestBadParameters: each bad value of a provider is reported once, not for every
// provider and list, and only so many.
func TestBadParameters(t *testing.T) {
	logging, logs := observed(zapcore.WarnLevel)
	d, _ := newDirectory(t, "", logging)
	r := newRegistered(t)
	var list []string
	for i := range 20 {
		list = append(list, provided(fmt.Sprintf("192.0.2.%d:20880", i), "weight=abc&token=geheim"))
	}
	d.Notify(r.snapshot(list...))
	require.Equal(t, 1, logs.Len())
	fields := logs.All()[0].ContextMap()
	assert.Equal(t, "weight", fields["key"])
	assert.Equal(t, "abc", fields["value"])
	assert.Equal(t, "100", fields["used"])
	assert.Contains(t, fields["service"], iface)
	assert.NotContains(t, fmt.Sprint(fields), "geheim")
	assert.Equal(t, 100, node(t, d, 0).Method(0).Weight)
	require.Len(t, d.List().Candidates.Nodes(), 20)

	for i := range 3 * maxProblems {
		d.Notify(r.snapshot(provided("192.0.2.10:20880", fmt.Sprintf("weight=x%d", i))))
	}
	assert.Equal(t, maxProblems+1, logs.Len())
}
