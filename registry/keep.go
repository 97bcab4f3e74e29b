package registry

import (
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

// emptyProtection is Dubbo's name of what is here. Dubbo has it off.
const emptyProtection = "enable-empty-protection"

// kept are the providers that stay although the list has nobody for the reference
// any more. A registry that was restored from nothing, or a directory deleted by
// hand, says nothing about processes that are connected and answer; those do not
// register anew by themselves.
//
// A provider is kept while its connection lives. One that says goodbye or dies
// leaves at once, and is not dialled again (B033). One whose address is still
// listed, but refused, has been changed or disabled on purpose and leaves. A list
// with a usable provider holds alone. What only a cache file knew is not kept: the
// registry has never confirmed it.
type kept struct {
	providers []*provider
	since     time.Time
}

// keep decides who stays in spite of a list that leaves nobody. Of the providers
// that a list has changed, and of those kept so far, it returns who is to be settled.
func (d *Directory) keep(changed []*provider, read time.Time) []*provider {
	for _, p := range d.kept.providers {
		if p.touched != d.roster.lists { // else it is there already
			changed = append(changed, p)
		}
	}
	since := d.kept.since
	d.kept = kept{}
	if d.cfg.BelieveEmpty || d.last.Cached || !d.roster.bare() {
		return changed
	}
	listed := map[string]bool{}
	for _, r := range d.roster.records {
		listed[r.entry.URL.Address()] = true
	}
	changed = slices.DeleteFunc(changed, func(p *provider) bool {
		if listed[p.address] || !d.unlist(p) {
			return false
		}
		d.kept.providers = append(d.kept.providers, p)
		return true
	})
	if len(d.kept.providers) > 0 {
		if d.kept.since = since; since.IsZero() {
			d.kept.since = read
		}
	}
	return changed
}

// unlist makes a provider that is connected end with its connection; false: it
// has to leave now.
func (d *Directory) unlist(p *provider) bool {
	if p.unlisted {
		return true
	}
	n := p.node
	if n == nil {
		return false
	}
	e, ok := n.Endpoint().(protocol.Unlister)
	p.unlisted = ok && e.Unlist(func() { d.lost(p, n) })
	return p.unlisted
}

// relist makes a provider that was kept an ordinary one again. If its connection has
// ended at this moment it loses its node, and gets a new one.
func (d *Directory) relist(p *provider, c *change) {
	p.unlisted = false
	if !p.node.Endpoint().(protocol.Unlister).Relist() {
		d.leave(p, c)
		d.roster.nodes = slices.DeleteFunc(d.roster.nodes, func(o *provider) bool { return o == p })
	}
}

// lost takes out a provider that was kept. Its endpoint calls it.
func (d *Directory) lost(p *provider, n *protocol.Node) {
	var c change
	d.mu.Lock()
	if i := slices.Index(d.kept.providers, p); i >= 0 && p.node == n {
		d.kept.providers = slices.Delete(d.kept.providers, i, i+1)
		d.settle(p, &c)
		d.publish(&c)
	}
	d.mu.Unlock()
	closeAll(c.left)
}

// keptNote says why there are providers that the list does not have.
func (p *published) keptNote() string {
	if p.Funnel.Kept == 0 {
		return ""
	}
	return fmt.Sprintf("none listed since %s: kept those that are connected (%s)", clock(p.emptied), emptyProtection)
}

// reportKept logs the beginning and the end of keeping.
func (d *Directory) reportKept(old, next *published) {
	switch {
	case next.Funnel.Kept > 0 && old.Funnel.Kept == 0:
		d.log.Warn("the registry lists no provider any more: those that are connected are kept while they are",
			zap.Int("kept", next.Funnel.Kept), zap.Stringer("funnel", next.Funnel))
	case next.Funnel.Kept == 0 && old.Funnel.Kept > 0 && next.Candidates.Len() > 0:
		d.log.Info("the registry lists providers again", zap.Int("providers", next.Candidates.Len()))
	}
}
