package cluster

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// The parameters that name load balancers.
const (
	balanceKey = "loadbalance"
	shadowKey  = "loadbalance.shadow"
)

// meant is the name of the load balancer that a value of "loadbalance" means. Java's
// ExtensionLoader takes "true" for the default.
func meant(name string) string {
	if name == "true" {
		return loadbalance.Default
	}
	return name
}

// balancer is a load balancer whose choice is looked at.
type balancer struct {
	loadbalance.LoadBalance
	name    string
	builtin bool // it chooses from the list, which need not be looked up
	strayed atomic.Bool
	failure atomic.Pointer[string] // of a shadow that has panicked
	log     *zap.Logger
	panics  *panics
}

// choose returns what the load balancer chooses if the call may go there, else the
// first allowed provider: a balancer of somebody's own may not look.
func (b *balancer) choose(left *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	n := b.Select(left, inv)
	if n != nil && !b.builtin && !slices.Contains(left.Nodes(), n) {
		b.stray()
		n = nil
	}
	if n != nil && inv.Allows(n) {
		return n
	}
	return firstAllowed(left.Nodes(), inv)
}

// stray logs, once, that the choice was not in the list: it may be a provider of
// another reference, one that is gone, or one that the router has ruled out.
func (b *balancer) stray() {
	if b.strayed.CompareAndSwap(false, true) {
		b.log.Warn("a load balancer has chosen a provider that is not in the list it was given; the first that can be called is taken instead",
			zap.String(balanceKey, b.name))
	}
}

// isBuiltin reports whether the load balancer comes with gofer, whatever its name.
func isBuiltin(lb loadbalance.LoadBalance) bool {
	t := reflect.TypeOf(lb)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == reflect.TypeFor[loadbalance.Config]().PkgPath()
}

// balancers are the load balancers of one reference that one parameter names, each
// made once.
type balancers struct {
	key       string // of the parameter
	factories map[string]loadbalance.Factory
	config    loadbalance.Config
	methods   *protocol.MethodTable
	log       *zap.Logger
	panics    *panics

	mu   sync.Mutex
	made map[string]*balancer // nil: unknown
}

func newBalancers(cfg Config, key string, p *panics) *balancers {
	b := &balancers{
		key: key, factories: cfg.Balancers, config: cfg.Balancing, methods: cfg.Methods,
		log: cfg.Logger, panics: p, made: map[string]*balancer{},
	}
	b.config.Reference = cfg.Reference
	return b
}

// preview returns a copy: what it makes observes nothing, and is not kept.
func (b *balancers) preview(methods *protocol.MethodTable) *balancers {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &balancers{
		key: b.key, factories: b.factories, config: b.config, methods: methods,
		log: zap.NewNop(), panics: b.panics, made: maps.Clone(b.made),
	}
}

// check makes the load balancers that the reference itself names.
func (b *balancers) check(reference url.URL) error {
	names := map[string]string{}
	if b.key == balanceKey {
		names[b.key] = loadbalance.Default
	}
	for k, v := range reference.Params() {
		if v != "" && (k == b.key || strings.HasSuffix(k, "."+b.key)) {
			if names[k] = v; b.key == balanceKey {
				names[k] = meant(v)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if err := b.make(names[key]); err != nil {
			return fmt.Errorf("parameter %s: %w", key, err)
		}
	}
	return nil
}

// make adds the load balancer of that name; nil if it cannot be made.
func (b *balancers) make(name string) error {
	if b.made[name] != nil {
		return nil
	}
	b.made[name] = nil
	what := fmt.Sprintf("load balancer %q", name)
	lb, err := made(b.panics, what, func() (loadbalance.LoadBalance, error) { return loadbalance.New(b.factories, name, b.config) })
	if err != nil {
		return err
	}
	if lb == nil {
		return fmt.Errorf("%s: its factory returned neither a load balancer nor an error", what)
	}
	m := &balancer{LoadBalance: lb, name: name, builtin: isBuiltin(lb), log: b.log, panics: b.panics}
	if o, ok := lb.(protocol.Observer); ok && !b.has(lb) {
		if shadow := b.key == shadowKey; shadow || !m.builtin {
			o = &guard{Observer: o, balancer: m, shadow: shadow}
		}
		b.methods.Observe(o)
	}
	b.made[name] = m
	return nil
}

// has reports whether a load balancer has been made under another name.
func (b *balancers) has(lb loadbalance.LoadBalance) bool {
	if !reflect.ValueOf(lb).Comparable() {
		return false
	}
	for _, m := range b.made {
		if m != nil && m.LoadBalance == lb {
			return true
		}
	}
	return false
}

// get returns the load balancer of that name, nil when there is none: then a
// provider or a rule has named it, which is logged once.
func (b *balancers) get(name string) *balancer {
	b.mu.Lock()
	defer b.mu.Unlock()
	lb, known := b.made[name]
	if known {
		return lb
	}
	if err := b.make(name); err != nil {
		b.log.Warn("a provider or a rule names a load balancer that cannot be used; it is ignored",
			zap.String("parameter", b.key), zap.Error(err))
	}
	return b.made[name]
}
