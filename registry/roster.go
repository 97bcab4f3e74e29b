package registry

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// roster is what a directory knows of the last list: a record for every entry, a
// provider for every identity among the entries in use. A new list is compared
// with it, so that the work is proportional to what has changed.
type roster struct {
	matcher matcher
	lists   uint64 // lists taken so far
	records []*record
	byRaw   map[string]*record
	byKey   map[string]*provider
	nodes   []*provider // those with a node, ordered by address
}

// record is one entry of the list.
type record struct {
	entry    *Entry
	index    int       // in roster.records
	list     uint64    // the latest list that had the entry
	since    uint64    // the first of the lists in a row that had it
	seen     sighting  // when it came
	reason   string    // why it is refused, "" when it is used
	url      url.URL   // as the reference uses it
	millis   int64     // start of the process as it says, 0 for unknown
	provider *provider // nil when refused
}

// provider is one identity: protocol, address, path, group and version (Dubbo
// compares whole URLs and so takes a changed weight for a new provider). Several
// entries may share it: that of a dead session stays until the session expires.
type provider struct {
	key, address string
	records      []*record
	touched      uint64 // the latest list that changed its records

	lives  lives          // known, as long as there are entries
	used   *record        // the entry in force, nil before the first
	node   *protocol.Node // nil until Refer succeeds, and when it has left
	err    error          // of the last Refer
	millis int64          // start of the life in force, as the provider says
	start  time.Time      // and as it is believed

	unlisted bool // kept although no list has it
}

// compare takes a list and returns the providers whose entries have changed.
// Entries are found by position first, then by name: nothing is parsed or matched
// again for an entry that was there.
func (t *roster) compare(list []*Entry, seen sighting) []*provider {
	t.lists++
	old := t.records
	t.records = make([]*record, 0, len(list))
	var touched []*provider
	next, kept := 0, 0 // next: where the following entry was in the old list
	for _, e := range list {
		if e == nil {
			continue
		}
		var r *record
		if next < len(old) && old[next].entry == e {
			r = old[next]
		} else {
			r = t.byRaw[e.Raw]
		}
		switch {
		case r == nil:
			r = t.add(e, seen)
			touched = t.touch(touched, r)
		case r.list == t.lists: // named twice
			continue
		default:
			next = r.index + 1
			kept++
			r.entry, r.list = e, t.lists
		}
		r.index = len(t.records)
		t.records = append(t.records, r)
	}
	if kept == len(old) {
		return touched
	}
	for _, r := range old {
		if r.list != t.lists {
			t.remove(r)
			touched = t.touch(touched, r)
		}
	}
	return touched
}

func (t *roster) touch(touched []*provider, r *record) []*provider {
	if p := r.provider; p != nil && p.touched != t.lists {
		p.touched = t.lists
		return append(touched, p)
	}
	return touched
}

func (t *roster) add(e *Entry, seen sighting) *record {
	r := &record{entry: e, list: t.lists, since: t.lists, seen: seen}
	t.byRaw[e.Raw] = r
	if r.url, r.reason = t.matcher.match(e.URL); r.reason != "" {
		return r
	}
	r.millis = startMillis(r.url)
	key := identity(r.url)
	p := t.byKey[key]
	if p == nil {
		p = &provider{key: key, address: r.url.Address()}
		t.byKey[key] = p
	}
	p.records = append(p.records, r)
	r.provider = p
	return r
}

func (t *roster) remove(r *record) {
	delete(t.byRaw, r.entry.Raw)
	if p := r.provider; p != nil {
		p.records = slices.DeleteFunc(p.records, func(o *record) bool { return o == r })
	}
}

// bare reports whether the list has nobody for the reference.
func (t *roster) bare() bool {
	return !slices.ContainsFunc(t.records, func(r *record) bool { return r.provider != nil })
}

// identity is what makes two entries the same provider.
func identity(u url.URL) string {
	return u.Protocol() + "://" + u.Address() + "/" + u.Path() + "?group=" + u.Param("group") + "&version=" + u.Param("version")
}

// newest returns the entry that counts (B035): of the latest life, then the one
// with the reference's own scheme, then the one that came last, then the first by
// name.
func (p *provider) newest() *record {
	if len(p.records) == 0 {
		return nil
	}
	return slices.MinFunc(p.records, func(a, b *record) int {
		return cmp.Or(
			cmp.Compare(p.lives.order(b), p.lives.order(a)),
			cmp.Compare(foreign(a), foreign(b)),
			cmp.Compare(b.since, a.since),
			strings.Compare(a.entry.Raw, b.entry.Raw),
		)
	})
}

func foreign(r *record) int {
	if r.entry.URL.Protocol() == spoken {
		return 0
	}
	return 1
}

// arrange brings the ordered list of providers with nodes up to date.
func (t *roster) arrange(joined []*provider) {
	order := func(a, b *provider) int {
		return cmp.Or(strings.Compare(a.address, b.address), strings.Compare(a.key, b.key))
	}
	slices.SortFunc(joined, order)
	merged := make([]*provider, 0, len(t.nodes)+len(joined))
	for _, p := range t.nodes {
		if p.node == nil {
			continue
		}
		for len(joined) > 0 && order(joined[0], p) < 0 {
			merged, joined = append(merged, joined[0]), joined[1:]
		}
		merged = append(merged, p)
	}
	t.nodes = append(merged, joined...)
}

// refused groups the entries that are not used.
func (t *roster) refused(r *refusals) {
	if len(t.records) == len(t.nodes) && !t.bare() { // else the nodes are kept ones
		return
	}
	for _, rec := range t.records {
		var reason string
		switch p := rec.provider; {
		case p == nil:
			reason = rec.reason
		case p.used != rec:
			reason = "older entry of a provider that is listed again"
		case p.err != nil:
			reason = "cannot be used: " + brief(p.err.Error())
		default:
			continue
		}
		r.add(reason, 1).example(rec.who)
	}
}

// who names an entry for people.
func (r *record) who() string {
	if a := r.entry.URL.Address(); a != "" {
		return brief(a)
	}
	return brief(url.Redact(r.entry.Raw))
}
