package gofer

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

// openCache puts the file of the last known lists between the client and its
// registry, unless the registry's address says file-cache=false. It is no reason
// to fail that there can be no such file.
func (c *Client) openCache() {
	for _, key := range []string{"file-cache", "file.cache"} { // Dubbo 3 and 2.7
		if v := c.address.Param(key); v != "" && !url.Bool(v) {
			return
		}
	}
	log := c.cfg.logger.Named("registry")
	cache, err := registry.NewCache(c.registry, registry.CacheConfig{
		File:        c.address.Param("file"),
		Application: c.cfg.application,
		Root:        c.address.ParamOr("group", "dubbo"),
		Logger:      log,
	})
	if err != nil {
		log.Warn("the last known lists are not kept: name a file with the registry's parameter file, or set file-cache=false", zap.Error(err))
		return
	}
	c.cache, c.registry = cache, cache
}

// recall gives the directory the last known list, if there is one and the registry
// has given none. Calls need not wait for the registry any more then.
func (s *service) recall() bool {
	if s.source != s.client.registry {
		return false
	}
	list, ok := s.client.cache.Recall(s.url)
	if !ok {
		return false
	}
	now := time.Now()
	s.directory.Notify(list)
	s.recalled.Store(&now)
	return true
}

// firstList waits for the list of the registry. When none comes, the last known
// one will do, with a warning, as in Dubbo 2.6. Connections to its providers are
// made while the wait goes on.
func (s *service) firstList(ctx context.Context, timeout time.Duration) error {
	wait, cancel := context.WithTimeout(ctx, s.patience(timeout))
	defer cancel()
	deadline, _ := wait.Deadline()
	soon, cancelSoon := context.WithTimeout(wait, min(checkGrace, time.Until(deadline)/2))
	defer cancelSoon()
	if s.directory.Ready(soon) == nil {
		return nil
	}
	if !s.recall() {
		return s.directory.Ready(ctx)
	}
	if err := s.subscription.Ready(wait); err != nil {
		s.log.Warn("starting with the last known providers", zap.Stringer("funnel", s.directory.Funnel()), zap.Error(err))
	}
	return nil
}

// patience is how long the registry may take. One that has been away for a while
// gets less, so that many references do not wait for it one after the other.
func (s *service) patience(timeout time.Duration) time.Duration {
	if st := s.source.State(); !st.Connected && !st.Since.IsZero() {
		return max(0, timeout-time.Since(st.Since))
	}
	return timeout
}

// settle lets the first calls after a start with the last known list wait a moment
// for better: a connection to one of its providers, or to one of the registry's own
// list.
func (s *service) settle(ctx context.Context, since time.Time) {
	if time.Since(since) >= checkGrace {
		s.listed.Store(true) // from now on no call comes here
		return
	}
	ctx, cancel := context.WithDeadline(ctx, since.Add(checkGrace))
	defer cancel()
	tick := time.NewTicker(checkPoll)
	defer tick.Stop()
	for !s.ready() && !(s.listed.Load() && s.directory.List().Candidates.Len() == 0) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ready reports whether a provider is connected.
func (s *service) ready() bool {
	return slices.ContainsFunc(s.directory.List().Candidates.Nodes(), func(n *protocol.Node) bool { return n.State() == protocol.Ready })
}
