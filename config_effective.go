package gofer

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// effective is a parameter with the values that sources and beans give it.
type effective struct {
	key     string
	value   string  // as it stands in the URL
	entries []entry // the one that counts first
}

// joined are the parameters of which every bean's value counts, as in Dubbo.
var joined = []string{"reference.filter", "invoker.listener", "router"}

// effective returns the parameters of a reference, sorted by key; without id and
// interface those that all references begin with.
func (b *bindings) effective(id, name string) []effective {
	layers := []map[string][]entry{ // what counts most first
		b.values[owner{scope: scopeReferences}],
		b.values[owner{scope: scopeConsumer}],
		without(b.values[owner{scope: scopeApplication}], append([]string{"application"}, registryDefaults...)...),
	}
	if id != "" {
		own := merged(b.values[owner{scopeReference, id}], b.values[owner{scopeInterface, name}])
		layers = slices.Insert(layers, 0, own)
	}
	all := map[string]*effective{}
	for _, layer := range layers {
		for key, entries := range layer {
			e := all[key]
			switch {
			case e == nil:
				e = &effective{key: key, value: entries[0].value}
				all[key] = e
			case slices.Contains(joined, key):
				e.value = joinLists(entries[0].value, e.value)
			}
			e.entries = append(e.entries, entries...)
		}
	}
	var out []effective
	for _, key := range slices.Sorted(maps.Keys(all)) {
		e := *all[key]
		if escaped(key) {
			e.value = url.Escape(e.value)
		}
		out = append(out, e)
	}
	return out
}

func without(layer map[string][]entry, keys ...string) map[string][]entry {
	layer = maps.Clone(layer)
	for _, key := range keys {
		delete(layer, key)
	}
	return layer
}

// merged puts two forms of the keys of one bean together.
func merged(a, b map[string][]entry) map[string][]entry {
	out := maps.Clone(a)
	if out == nil {
		out = map[string][]entry{}
	}
	for key, entries := range b {
		both := slices.Concat(out[key], entries)
		slices.SortStableFunc(both, compareEntries)
		out[key] = both
	}
	return out
}

// joinLists appends the elements of b that a has not.
func joinLists(a, b string) string {
	list := url.SplitList(a)
	for _, x := range url.SplitList(b) {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return strings.Join(list, ",")
}
