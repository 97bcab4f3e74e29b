package gofer

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo"
	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

// Snapshot is the state of a client at one moment: plain data for pages, metrics
// and support. It holds no secrets.
type Snapshot struct {
	Application string
	Registry    *registry.State // nil without a registry
	References  []ReferenceSnapshot
	Connections []dubbo.Connection // to providers, by address
}

// ReferenceSnapshot is the state of one reference.
type ReferenceSnapshot struct {
	Service    string // service key: [group/]interface[:version]
	Parameters map[string]string
	Users      int // how many Refer calls share it
	// Funnel counts the providers after each stage and says why some are refused.
	Funnel protocol.Funnel
	// Stale is true when the list is the last known one: the registry is away.
	Stale bool
	// Kept is true when the registry lists none of the providers any more: they are
	// kept while they are connected (parameter enable-empty-protection), see Funnel.
	Kept      bool
	Providers []ProviderSnapshot
	// Shadows compare load balancers with those that loadbalance.shadow names, by method.
	Shadows []cluster.Shadow
}

// ProviderSnapshot is one provider of a reference.
type ProviderSnapshot struct {
	Address string
	URL     string // merged parameters, without secrets
	State   string // ready, readonly, down
	Reason  string // why it is not ready
	// Start of the provider as far as this consumer believes it; zero when unknown.
	Start time.Time
	// Weight in force now, warm-up included, FullWeight what it grows to, at
	// interface level; WarmUntil is the end of the warm-up, zero when there is none.
	Weight, FullWeight int
	WarmUntil          time.Time
	// Outlier tells whether the provider is ejected because it keeps failing, until
	// when, and what its latest failure was.
	Outlier OutlierSnapshot
	Methods []MethodSnapshot // those called so far
}

// OutlierSnapshot is what is known about a provider's failures since its start.
type OutlierSnapshot struct {
	Ejected     bool      // out of the choice
	Since       time.Time // the latest ejection, or failed trial; zero for none
	Until       time.Time // then one call is tried there
	Trial       bool      // that call is under way
	Trips       int       // ejections in a row, without a minute of service between
	Failures    int       // in a row
	LastFailure string    // "" for none
}

// MethodSnapshot is a method's parameters and counters at one provider, since the
// provider's start or since this consumer first saw it.
type MethodSnapshot struct {
	Name    string
	Weight  int // in force now, warm-up included
	Actives int // limit, 0 for none
	Timeout time.Duration
	protocol.Counters
}

// Snapshot returns the client's state.
func (c *Client) Snapshot() Snapshot {
	s := Snapshot{Application: c.cfg.application}
	if c.registry != nil {
		st := c.registry.State()
		s.Registry = &st
	}
	if w, ok := c.wire.(*dubbo.Protocol); ok { // tests have others
		s.Connections = w.Connections()
	}
	for _, v := range c.sorted() {
		s.References = append(s.References, v.snapshot())
	}
	return s
}

// sorted returns the client's services by their keys.
func (c *Client) sorted() []*service {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.services), func(a, b *service) int { return cmp.Compare(a.url.ServiceKey(), b.url.ServiceKey()) })
}

// Snapshot returns the reference's state.
func (r *Reference) Snapshot() ReferenceSnapshot { return r.service.snapshot() }

func (s *service) snapshot() ReferenceSnapshot {
	list := s.directory.List()
	out := ReferenceSnapshot{
		Service: s.url.ServiceKey(),
		Funnel:  s.funnel(list),
		Stale:   list.Stale,
		Kept:    list.Funnel.Kept > 0,
	}
	s.client.mu.Lock()
	out.Users = s.users
	s.client.mu.Unlock()
	out.Parameters = redacted(s.url)
	out.Shadows = s.cluster.Shadows()
	now := time.Now()
	for _, n := range list.Candidates.Nodes() {
		out.Providers = append(out.Providers, s.provider(n, now))
	}
	return out
}

func (s *service) provider(n *protocol.Node, now time.Time) ProviderSnapshot {
	life := n.Life()
	p := ProviderSnapshot{
		Address: n.Address(), URL: n.URL().String(), State: n.State().String(), Start: life.Start,
	}
	general, _ := url.CompileMethod(n.URL(), "")
	p.Weight, p.FullWeight = loadbalance.Weight(&general, life.Start, now), general.Weight
	if end := life.Start.Add(general.Warmup); !life.Start.IsZero() && end.After(now) {
		p.WarmUntil = end
	}
	if err := n.Endpoint().StateReason(); err != nil {
		p.Reason = err.Error()
	}
	e := s.cluster.Ejection(n)
	p.Outlier = OutlierSnapshot{Ejected: e.Ejected, Since: e.Since, Until: e.Until, Trial: e.Trial, Trips: e.Trips, Failures: e.Failures}
	if e.LastFailure != nil {
		p.Outlier.LastFailure = e.LastFailure.Error()
	}
	for slot, status := range life.Statuses {
		m, c := n.Method(slot), status.Counters()
		if c.Total == 0 && c.Active == 0 { // it was only looked at
			continue
		}
		p.Methods = append(p.Methods, MethodSnapshot{
			Name: m.Name, Weight: loadbalance.Weight(m, life.Start, now), Actives: m.Actives, Timeout: m.Timeout,
			Counters: c,
		})
	}
	return p
}

// funnel returns the funnel of a listing with the note on the registry and the
// providers that are connected.
func (s *service) funnel(list *protocol.Listing) protocol.Funnel {
	f := s.directory.Funnel()
	f.Routed, f.Available, f.Ejected = list.Candidates.Len(), 0, 0
	for _, n := range list.Candidates.Nodes() {
		if n.State() != protocol.Down {
			f.Available++
			if n.Ejected() {
				f.Ejected++
			}
		}
	}
	return f
}

// redacted returns the parameters of a URL with the secret ones masked.
func redacted(u url.URL) map[string]string {
	out := map[string]string{}
	for k, v := range u.Params() {
		if url.IsSecret(k) {
			v = "***"
		}
		out[k] = v
	}
	return out
}
