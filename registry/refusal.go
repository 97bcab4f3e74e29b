package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	maxReasons  = 8 // reasons that a funnel lists
	maxExamples = 3 // addresses named for one reason
)

// refusals groups what is refused by reason, so that 1,200 entries of other
// versions read in a few lines. The zero value is ready.
type refusals struct {
	groups []*refusalGroup
	index  map[string]*refusalGroup
}

type refusalGroup struct {
	reason   string
	count    int
	examples []string
}

// add counts n entries that are refused for one reason.
func (r *refusals) add(reason string, n int) *refusalGroup {
	g := r.index[reason]
	if g == nil {
		if r.index == nil {
			r.index = map[string]*refusalGroup{}
		}
		g = &refusalGroup{reason: reason}
		r.index[reason] = g
		r.groups = append(r.groups, g)
	}
	g.count += n
	return g
}

// example names one of the entries, if there are not enough names already.
func (g *refusalGroup) example(who func() string) {
	if len(g.examples) < maxExamples {
		g.examples = append(g.examples, who())
	}
}

// list returns the groups, the biggest first, and at most [maxReasons] of them.
func (r *refusals) list() []protocol.Refusal {
	slices.SortStableFunc(r.groups, func(a, b *refusalGroup) int { return cmp.Compare(b.count, a.count) })
	var out []protocol.Refusal
	rest := 0
	for i, g := range r.groups {
		if i < maxReasons {
			out = append(out, protocol.Refusal{Provider: g.who(), Reason: g.reason, Count: g.count})
		} else {
			rest += g.count
		}
	}
	if rest > 0 {
		out = append(out, protocol.Refusal{
			Provider: fmt.Sprintf("%d more", rest),
			Reason:   fmt.Sprintf("for %d other reasons", len(r.groups)-maxReasons),
			Count:    rest,
		})
	}
	return out
}

func (g *refusalGroup) who() string {
	s := strings.Join(g.examples, ", ")
	switch more := g.count - len(g.examples); {
	case more <= 0:
		return s
	case s == "":
		return fmt.Sprintf("%d entries", more)
	default:
		return fmt.Sprintf("%s and %d more", s, more)
	}
}
