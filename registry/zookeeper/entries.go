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
type entries struct {
	good map[string]*registry.Entry
	bad  map[string]registry.Rejection
}

// parsed is the outcome for one list.
type parsed struct {
	list     []*registry.Entry
	rejected []registry.Rejection // at most maxRejections
	count    int                  // of all rejected
	fresh    []registry.Rejection // not seen in the list before
}

// parse reads the names and forgets those that are gone.
func (e *entries) parse(names []string) parsed {
	p := parsed{list: make([]*registry.Entry, 0, len(names))}
	good := make(map[string]*registry.Entry, len(names))
	bad := map[string]registry.Rejection{}
	for _, name := range names {
		if entry := e.good[name]; entry != nil {
			good[name] = entry
			p.list = append(p.list, entry)
			continue
		}
		r, known := e.bad[name]
		if !known {
			u, err := url.ParseEncoded(name)
			if err == nil {
				entry := &registry.Entry{Raw: name, URL: u}
				good[name] = entry
				p.list = append(p.list, entry)
				continue
			}
			r = registry.Rejection{Raw: shorten(url.Redact(name)), Reason: err.Error()}
			p.fresh = append(p.fresh, r)
		}
		bad[name] = r
		p.count++
		if len(p.rejected) < maxRejections {
			p.rejected = append(p.rejected, r)
		}
	}
	e.good, e.bad = good, bad
	return p
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
