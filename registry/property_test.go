package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// model is a directory done the slow way: it looks at the last list, and knows of
// every entry how long it has been there, and of every start when it was seen first.
type model struct {
	reference url.URL
	lists     int64
	list      []string                      // the last good one, sorted
	since     map[string]int64              // entry → the first of the lists in a row that have it
	lives     map[string]map[int64][2]int64 // identity → start → its rank
	down      map[string]bool
}

// wanted is a provider that should be there, whether or not it can be referred.
type wanted struct {
	url    url.URL
	millis int64 // of the life in force
}

// take takes a list.
func (m *model) take(rt *rapid.T, list []string) {
	m.lists++
	since := map[string]int64{}
	for _, raw := range list {
		since[raw] = m.lists
		if was, ok := m.since[raw]; ok {
			since[raw] = was
		}
	}
	m.list, m.since = slices.Sorted(maps.Keys(since)), since
	for key, entries := range m.used(rt) {
		ranks := m.lives[key]
		if ranks == nil {
			ranks = map[int64][2]int64{}
			m.lives[key] = ranks
		}
		for _, e := range entries {
			if _, known := ranks[e.millis]; !known {
				ranks[e.millis] = [2]int64{m.lists, e.millis}
			}
		}
		// Of lives seen first in the same list, that counts which outlives the others.
		latest := m.latest(key, func(int64) bool { return true })
		left := m.latest(key, func(ms int64) bool {
			return slices.ContainsFunc(entries, func(e wanted) bool { return e.millis == ms })
		})
		if left != latest && ranks[left][0] == ranks[latest][0] {
			ranks[left] = [2]int64{m.lists, left}
		}
	}
}

// latest returns the start of the latest life, of those that are asked for.
func (m *model) latest(key string, among func(int64) bool) int64 {
	best, found := int64(0), false
	for ms, rank := range m.lives[key] {
		if r := m.lives[key][best]; among(ms) && (!found || slices.Compare(rank[:], r[:]) > 0) {
			best, found = ms, true
		}
	}
	return best
}

// used returns the entries of every identity.
func (m *model) used(rt *rapid.T) map[string][]wanted {
	out := map[string][]wanted{}
	for _, raw := range m.list {
		u, err := url.Parse(raw)
		require.NoError(rt, err)
		matcher := newMatcher(m.reference)
		if use, reason := matcher.match(u); reason == "" {
			out[identity(use)] = append(out[identity(use)], wanted{use, startMillis(use)})
		}
	}
	return out
}

// want returns the providers that should be there: each with the entry of its latest
// life, of those that came last.
func (m *model) want(rt *rapid.T) map[string]wanted {
	out := map[string]wanted{}
	for key, entries := range m.used(rt) {
		rank := func(e wanted) []int64 {
			r := m.lives[key][e.millis]
			return []int64{r[0], r[1], m.since[e.url.String()]}
		}
		best := entries[0]
		for _, e := range entries {
			if slices.Compare(rank(e), rank(best)) > 0 {
				best = e
			}
		}
		out[key] = wanted{best.url, m.latest(key, func(int64) bool { return true })}
	}
	return out
}

// TestAnySequence: whatever lists come, in whatever order, with whatever failures
// between, the directory holds what the last good list says; no endpoint stays
// open that is not listed, none is closed twice; a node lives as long as its
// identity is listed, and begins a life for each new start of its provider.
func TestAnySequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, anySequence) // hidden: a bubble's test has no Deadline
	})
}

func anySequence(rt *rapid.T) {
	params := rapid.SampledFrom([]string{"", "group=g1", "group=*&version=*", "group=g1,g2", "version=1"}).Draw(rt, "reference")
	m := &model{down: map[string]bool{}, lives: map[string]map[int64][2]int64{}}
	m.reference, _ = url.Parse("consumer://h/" + iface + "?interface=" + iface + "&" + params)
	w := &wire{}
	d := NewDirectory(DirectoryConfig{Reference: m.reference, Refer: w.refer})
	entries := map[string]*Entry{}
	before := map[string]alivePair{}

	entry := rapid.Custom(func(rt *rapid.T) string {
		return provided(fmt.Sprintf("192.0.2.%d:20880", rapid.IntRange(1, 6).Draw(rt, "host")),
			rapid.SampledFrom([]string{"", "timestamp=1000", "timestamp=2000", "timestamp=1000&weight=5", "timestamp=99999999999999"}).Draw(rt, "params")+
				rapid.SampledFrom([]string{"", "", "&group=g1", "&group=g2", "&version=1", "&disabled=true"}).Draw(rt, "variant"))
	})
	for range rapid.IntRange(1, 25).Draw(rt, "steps") {
		switch rapid.IntRange(0, 9).Draw(rt, "step") {
		default:
			list := rapid.SliceOfN(entry, 0, 12).Draw(rt, "list")
			m.take(rt, list)
			s := Snapshot{Read: time.Now()}
			for _, raw := range list {
				e := entries[raw]
				if e == nil || rapid.IntRange(0, 5).Draw(rt, "new pointer") == 0 {
					u, err := url.Parse(raw)
					require.NoError(rt, err)
					e = &Entry{Raw: raw, URL: u}
					entries[raw] = e
				}
				s.Providers = append(s.Providers, e)
			}
			d.Notify(s)
		case 0:
			d.Notify(Snapshot{Stale: true, Providers: slices.Collect(maps.Values(entries))[:len(entries)/2]})
		case 1:
			a := fmt.Sprintf("192.0.2.%d:20880", rapid.IntRange(1, 6).Draw(rt, "address"))
			m.down[a] = !m.down[a]
			w.fail(a, map[bool]error{true: errors.New("refused"), false: nil}[m.down[a]])
		case 2:
			time.Sleep(2 * lastRetry) // what failed has been tried again
		}
		synctest.Wait() // a retry may be due just now
		before = m.compare(rt, d, w, before)
		time.Sleep(time.Second)
	}
	d.Close()
	require.Empty(rt, w.open())
	for _, e := range w.endpoints {
		require.Equal(rt, int32(1), e.closes.Load(), "closed once")
	}
}

// alivePair is what must stay while an identity stays listed.
type alivePair struct {
	node   *protocol.Node
	life   *protocol.Life
	millis int64
}

func (m *model) compare(rt *rapid.T, d *Directory, w *wire, before map[string]alivePair) map[string]alivePair {
	l := d.List()
	want := m.want(rt)
	now := map[string]alivePair{}
	last := ""
	for _, n := range l.Candidates.Nodes() {
		p, ok := want[n.Key()]
		require.True(rt, ok, "%s is not in the last list", n.Key())
		require.True(rt, url.Merge(p.url, m.reference).Equal(n.URL()), "%s has old parameters", n.URL())
		require.True(rt, n.URL().Equal(*endpointOf(n).url.Load()), "the endpoint too")
		require.Less(rt, last, n.Address()+n.Key(), "ordered, each once")
		last = n.Address() + n.Key()
		now[n.Key()] = alivePair{n, n.Life(), p.millis}
		if was, ok := before[n.Key()]; ok {
			require.Same(rt, was.node, n)
			require.Equal(rt, was.millis == now[n.Key()].millis, was.life == n.Life(),
				"a life for each start: %d then %d, believed %v then %v", was.millis, now[n.Key()].millis, was.life.Start, n.Life().Start)
		}
		require.False(rt, n.Life().Start.After(time.Now()))
	}
	for key := range want {
		if _, ok := now[key]; !ok {
			require.NotEmpty(rt, refusalsOf(l), "%s is missing without a reason", key)
		}
	}
	var listed []string
	for _, n := range l.Candidates.Nodes() {
		listed = append(listed, n.Address())
	}
	slices.Sort(listed)
	require.Equal(rt, listed, w.open(), "open is what is listed")

	refused := 0
	for _, r := range l.Funnel.Refused {
		refused += r.Count
	}
	require.Equal(rt, l.Funnel.Registered-l.Funnel.Enabled, refused)
	require.Equal(rt, len(now), l.Funnel.Enabled)
	return now
}

// refusalsOf returns the reasons of providers that could not be referred.
func refusalsOf(l *protocol.Listing) []string {
	var out []string
	for _, r := range l.Funnel.Refused {
		if r.Reason == "cannot be used: refused" {
			out = append(out, r.Reason)
		}
	}
	return out
}
