package zookeeper

import (
	"strings"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

const (
	maxRejections = 10  // shown of one list
	maxWarnings   = 3   // named in one log line
	maxRaw        = 300 // characters shown of a name
)

// entries turns names into entries, each name once: a name that is still there
// keeps its entry, so a change costs what changed.
type entries struct{ items []item } // sorted by name

type item struct {
	name     string
	entry    *registry.Entry // nil if it was rejected
	rejected registry.Rejection
}

// parsed is the outcome for one list.
type parsed struct {
	list     []*registry.Entry
	rejected []registry.Rejection // at most maxRejections
	count    int                  // of all rejected
	fresh    []registry.Rejection // not in the list before
}

// parse reads the names, which are sorted, and forgets those that are gone.
func (e *entries) parse(names []string) parsed {
	p := parsed{list: make([]*registry.Entry, 0, len(names))}
	items := make([]item, 0, len(names))
	old := e.items
	for _, name := range names {
		for len(old) > 0 && old[0].name < name {
			old = old[1:]
		}
		var it item
		if len(old) > 0 && old[0].name == name {
			it = old[0]
		} else if it = parseItem(name); it.entry == nil {
			p.fresh = append(p.fresh, it.rejected)
		}
		items = append(items, it)
		switch {
		case it.entry != nil:
			p.list = append(p.list, it.entry)
		case p.count < maxRejections:
			p.rejected = append(p.rejected, it.rejected)
			fallthrough
		default:
			p.count++
		}
	}
	e.items = items
	return p
}

func parseItem(name string) item {
	u, err := url.ParseEncoded(name)
	if err != nil {
		return item{name: name, rejected: registry.Rejection{Raw: shorten(url.Redact(name)), Reason: err.Error()}}
	}
	return item{name: name, entry: &registry.Entry{Raw: name, URL: u}}
}

// warn logs rejected names that are new, a few of them by name.
func (p *parsed) warn(log *zap.Logger, path string) {
	if len(p.fresh) == 0 {
		return
	}
	var b strings.Builder
	for i, r := range p.fresh {
		if i == maxWarnings {
			b.WriteString("; …")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(r.Reason)
	}
	log.Warn("entries that cannot be read are left out", zap.String("path", path), zap.Int("new", len(p.fresh)), zap.Int("all", p.count), zap.String("reasons", b.String()))
}

func shorten(s string) string {
	if len(s) <= maxRaw {
		return s
	}
	return strings.ToValidUTF8(s[:maxRaw], "") + "…"
}
