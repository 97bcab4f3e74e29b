package gofer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/url"
)

const (
	// checkTimeout bounds check=true unless the registry's "timeout" says otherwise.
	checkTimeout = 5 * time.Second
	// checkGrace is how long check=true waits for a list to get its first usable
	// entry: a provider that registered just now is seen a moment later. Dubbo 3.3
	// waits as long.
	checkGrace = time.Second
	// checkPoll is how often check=true looks whether a connection is up.
	checkPoll = 2 * time.Millisecond
)

// service is what all references of one declaration share: subscription,
// directory, cluster, counters.
type service struct {
	client *Client
	key    string
	users  int // guarded by client.mu
	log    *zap.Logger

	url          url.URL
	methods      *methodSet
	directory    *registry.Directory
	subscription registry.Subscription
	source       registry.Registry // where the list comes from
	consumer     url.URL           // as registered; empty when not
	cluster      *cluster.Invoker
	invoker      protocol.Invoker // call filters around the cluster
	steady       steady           // for Diagnose

	listed   atomic.Bool               // a first list has been read
	recalled atomic.Pointer[time.Time] // when the list of the cache file was taken
	closed   atomic.Bool
}

// key makes equal declarations one service, whatever the order of parameters.
func (d declaration) key() string {
	key := d.url.Full()
	for _, p := range d.direct {
		key += ";" + p.Full()
	}
	return key
}

func newService(c *Client, key string, d declaration) (*service, error) {
	u := d.url
	if u.Param("application") == "" {
		u = u.With("application", c.cfg.application)
	}
	u = u.With("side", "consumer")
	s := &service{client: c, key: key, url: u, methods: &methodSet{url: u}}
	s.log = c.cfg.logger.Named("reference").With(zap.String("service", u.ServiceKey()))
	warnUnknown(s.log, u)
	if len(d.direct) > 0 {
		s.source = registry.NewStatic(d.direct...)
	} else if s.source = c.registry; s.source == nil {
		return nil, errors.New("the client has no registry: add WithRegistry(\"zookeeper://host:2181\"), or refer to dubbo://host:port/interface")
	}
	if err := s.compose(); err != nil {
		return nil, err
	}
	if err := s.connect(); err != nil {
		s.directory.Close()
		return nil, err
	}
	return s, nil
}

// compose builds the call path: filters, directory, cluster.
func (s *service) compose() error {
	cfg, log := s.client.cfg, s.log
	chain, err := filter.NewChain(filter.Config{
		Reference: s.url, Application: cfg.application, Logger: log,
	}, cfg.filters)
	if err != nil {
		return err
	}
	s.directory = registry.NewDirectory(registry.DirectoryConfig{
		Reference: s.url,
		Methods:   &s.methods.table,
		Refer:     s.client.wire.Refer,
		Wrap:      chain.Attempt,
		State:     s.source.State,
		Prepare:   func(old, next *protocol.Listing) { s.cluster.Prepare(old, next) },
		OnPublish: func(_, next *protocol.Listing) {
			s.steady.changed(next.Candidates, time.Now())
			s.cluster.Changed()
		},
		Logger: s.client.cfg.logger.Named("reference"), // the directory adds the service itself

		BelieveEmpty: !url.Bool(s.client.address.ParamOr("enable-empty-protection", "true")),
	})
	if s.cluster, err = cluster.New(cluster.Config{
		Directory: s.directory,
		Reference: s.url,
		Methods:   &s.methods.table,
		Balancers: cfg.balancers,
		Clusters:  cfg.clusters,
		Logger:    log,

		Trace: cfg.trace, TraceEvery: cfg.traceEvery,
	}); err != nil {
		return err
	}
	s.invoker = chain.Call(s.cluster)
	return nil
}

// connect subscribes to the list and registers the consumer.
func (s *service) connect() error {
	c := s.client
	if !url.Bool(s.url.ParamOr("check", "true")) {
		s.recall() // nobody waits for the registry
	}
	var err error
	if s.subscription, err = s.source.Subscribe(s.url, registry.ListenerFunc(func(snap registry.Snapshot) {
		s.directory.Notify(snap)
		s.listed.Store(true)
	})); err != nil {
		return err
	}
	if s.source != c.registry || !url.Bool(c.address.ParamOr("register", "true")) {
		return nil
	}
	consumer := registry.ConsumerURL(s.url, c.cfg.application, c.host, os.Getpid(), c.started)
	if err := c.consumers.add(s.source, consumer); err != nil {
		s.log.Warn("consumer is not registered", zap.Error(err)) // it can work without
		return nil
	}
	s.consumer = consumer
	return nil
}

// awaitList lets a call made before the first list wait for it within its deadline.
func (s *service) awaitList(ctx context.Context, inv *protocol.Invocation) error {
	timeout := inv.Timeout
	if timeout <= 0 {
		view, _ := url.CompileMethod(s.url, inv.Method.Name)
		timeout = view.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := s.directory.Ready(ctx)
	if since := s.recalled.Load(); err == nil && since != nil {
		s.settle(ctx, *since)
	}
	if err == nil || s.listed.Load() {
		return nil
	}
	e := &Error{Code: ErrNoProvider, Service: s.url.Interface(), Method: inv.Method.Name, Elapsed: time.Since(inv.Start), Cause: err}
	if errors.Is(err, context.Canceled) {
		e.Code = ErrCanceled
	}
	e.Detail = fmt.Sprintf("no list of providers has been read yet: %v", err)
	return e
}

// check waits until the service can be called, and says what is missing if not.
func (s *service) check(ctx context.Context) error {
	err := s.await(ctx)
	if ended := ctx.Err(); err != nil && ended != nil { // the caller gave up: that is the first cause
		err.Cause = errors.Join(ended, err.Cause)
		if errors.Is(ended, context.Canceled) {
			err.Code = ErrCanceled
		}
		err.Detail = fmt.Sprintf("%v while waiting: %s", ended, err.Detail)
	}
	if err == nil {
		return nil
	}
	return err
}

func (s *service) await(ctx context.Context) *Error {
	timeout := checkTimeout
	if view, err := url.Duration(s.client.address.Param("timeout")); err == nil && view > 0 {
		timeout = view
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.firstList(ctx, timeout); err != nil {
		text := fmt.Sprintf("the registry gave no list: %v; start it, correct its address, or set check=false to start without", err)
		if bad := s.client.cache.Problem(); bad != nil {
			text += fmt.Sprintf(" (the last known providers are of no help: %v)", bad)
		}
		return s.unavailable(text)
	}
	tick := time.NewTicker(checkPoll)
	defer tick.Stop()
	for listed := time.Now(); ; {
		if s.ready() {
			return nil
		}
		if s.directory.List().Candidates.Len() == 0 && (time.Since(listed) > checkGrace || s.source != s.client.registry) {
			return s.unavailable("")
		}
		select {
		case <-ctx.Done():
			return s.unavailable("")
		case <-tick.C:
		}
	}
}

// unavailable is the error of check=true: the funnel, and what to do.
func (s *service) unavailable(detail string) *Error {
	cause := cluster.NoProvider(s.url.ServiceKey(), s.directory.List())
	cause.Funnel.Note = s.directory.Funnel().Note
	if detail == "" {
		detail = cause.Error() + "; or set check=false to start before the providers"
	}
	return &Error{Code: ErrNoProvider, Service: s.url.Interface(), Detail: detail, Cause: cause}
}

// annotate puts the registry's state of now into an error about missing providers:
// the listing has that of the moment it was made.
func (s *service) annotate(err error) {
	var none *NoProviderError
	if errors.As(err, &none) {
		none.Funnel.Note = s.directory.Funnel().Note
	}
}

func (s *service) badArgument(method string, err error) error {
	return s.methods.badArgument(method, err)
}

// close ends the subscription, takes the consumer out of the registry and lets
// the connections drain.
func (s *service) close() error {
	s.closed.Store(true)
	s.cluster.Close()
	s.subscription.Close()
	var errs []error
	if s.consumer.Protocol() != "" {
		errs = append(errs, s.client.consumers.remove(s.source, s.consumer))
	}
	if s.source != s.client.registry {
		errs = append(errs, s.source.Close())
	}
	s.directory.Close()
	return errors.Join(errs...)
}
