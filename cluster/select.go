package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// A call in line looks now and then for a provider whose connection has come back:
// nobody tells the line about that. The more calls wait, the seldomer each looks.
const (
	recheck      = 100 * time.Millisecond
	recheckShare = 16
)

// selection is the choice of a provider for one attempt.
type selection struct {
	begun    time.Time // of the attempt, waiting included
	now      time.Time // when the provider was chosen
	deadline time.Time // of the attempt at this provider
	refused  bool      // a slot was lost: wait in line
	trial    bool      // the provider is ejected, and this call tries it

	chosen    *protocol.Node
	explained *Explanation // how it was chosen; nil: nobody wants to know
}

// choose returns the provider of the next attempt, and sets when that has to end.
func (c *Invoker) choose(ctx context.Context, inv *protocol.Invocation, s *selection) (*protocol.Node, error) {
	if err := c.ended(ctx); err != nil {
		return nil, err
	}
	s.now = s.begun
	inv.SetRelax(0)
	list := c.directory.List()
	left, _ := c.route(list, inv)
	s.note(c, list, left, inv)
	n := c.trial(list, left, inv, s)
	if n == nil && !s.refused && c.methods.Waiting(inv.Method.Slot) == 0 {
		n = c.pick(list, left, inv)
	}
	if n == nil {
		var err error
		if n, err = c.search(ctx, inv, s); err != nil {
			return nil, err
		}
	}
	timeout := inv.Timeout
	if timeout <= 0 {
		timeout = n.Method(inv.Method.Slot).Timeout
	}
	s.deadline = s.begun.Add(timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(s.deadline) {
		s.deadline = d
	}
	switch {
	case s.now.Before(s.deadline):
		return n, nil
	case s.trial:
		c.outliers.Abandon(inv, n)
	}
	if inv.Queued() {
		return nil, c.saturated(left, inv, s, nil)
	}
	return nil, &protocol.Error{
		Code: protocol.ErrExpired, Retry: protocol.RetryNever, Detail: "no time is left for the attempt", Cause: context.DeadlineExceeded,
	}
}

// trial returns the ejected provider that this attempt is to try, nil for none.
func (c *Invoker) trial(list *protocol.Listing, left *protocol.Candidates, inv *protocol.Invocation, s *selection) *protocol.Node {
	s.trial = false
	if !c.outliers.Any() {
		return nil
	}
	now := time.Now()
	n := c.outliers.Trial(left, inv, now, c.spare(list, inv))
	if n != nil {
		s.now, s.trial = now, true
	}
	return n
}

// spare reports whether the call can be retried if this attempt fails.
func (c *Invoker) spare(list *protocol.Listing, inv *protocol.Invocation) bool {
	return !c.once && !inv.OneWay && inv.Attempt < c.plan(list.Candidates, inv.Method.Slot).retries
}

// ended reports whether no attempt may begin any more.
func (c *Invoker) ended(ctx context.Context) error {
	if c.closed.Load() {
		return &protocol.Error{Code: protocol.ErrClosed, Retry: protocol.RetryNever, Detail: "the reference is closed"}
	}
	err := ctx.Err()
	if err == nil {
		return nil
	}
	code := protocol.ErrCanceled
	if errors.Is(err, context.DeadlineExceeded) {
		code = protocol.ErrExpired
	}
	return &protocol.Error{Code: code, Retry: protocol.RetryNever, Cause: err}
}

func (c *Invoker) route(list *protocol.Listing, inv *protocol.Invocation) (left *protocol.Candidates, rule string) {
	if c.router == nil {
		return list.Candidates, ""
	}
	return c.router.Route(list.Candidates, inv)
}

// pick asks the load balancer for an allowed provider, nil when there is none. A
// single candidate needs no balancer (B095).
func (c *Invoker) pick(list *protocol.Listing, left *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	nodes := left.Nodes()
	if len(nodes) == 0 {
		return nil
	}
	p := c.plan(list.Candidates, inv.Method.Slot)
	p.use()
	if len(nodes) == 1 {
		return firstAllowed(nodes, inv)
	}
	if p.sticky != nil {
		return pickSticky(p, left, inv)
	}
	return p.choose(left, inv)
}

// choose asks the load balancer, and its shadow if there is one.
func (p *plan) choose(left *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	if p.shadow != nil && p.shadow.sampled() {
		return p.shadow.choose(p.balance, left, inv)
	}
	return p.balance.choose(left, inv)
}

func firstAllowed(nodes []*protocol.Node, inv *protocol.Invocation) *protocol.Node {
	for _, n := range nodes {
		if inv.Allows(n) {
			return n
		}
	}
	return nil
}

// stuck is the provider that a sticky method stays with.
type stuck struct {
	node *protocol.Node
	in   *protocol.Candidates // the latest list that is known to have it
}

// pickSticky stays with the provider of the calls before, per method (F26). A call
// that has failed there, or finds it gone, not ready or ejected, moves it; one that
// finds it saturated goes elsewhere and leaves it.
func pickSticky(p *plan, left *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	s := p.sticky.Load()
	if s != nil && s.in != left {
		if slices.Contains(left.Nodes(), s.node) {
			s = &stuck{s.node, left}
			p.sticky.Store(s)
		} else {
			s = nil
		}
	}
	if s != nil && inv.Allows(s.node) {
		return s.node
	}
	n := p.choose(left, inv)
	if n != nil && (s == nil || inv.Tried(s.node) || s.node.State() != protocol.Ready || s.node.Ejected()) {
		p.sticky.Store(&stuck{n, left})
	}
	return n
}

// search is the long way to a provider: when nobody meets all conditions, or when
// other calls are in line already.
func (c *Invoker) search(ctx context.Context, inv *protocol.Invocation, s *selection) (*protocol.Node, error) {
	q := c.methods.Queue(inv.Method.Slot)
	turn := !s.refused && q.Waiting() == 0
	for {
		list := c.directory.List()
		left, rule := c.route(list, inv)
		if !relax(inv, left.Nodes()) {
			if err := c.connecting(ctx, inv, s, found{list, left, rule}); err != nil {
				return nil, err
			}
			continue
		}
		s.note(c, list, left, inv)
		if n := c.trial(list, left, inv, s); n != nil {
			return n, nil
		}
		look := recheck * time.Duration(1+q.Waiting()/recheckShare)
		if c.outliers.Any() {
			look = min(look, c.needy(ctx, list, inv, s))
		}
		if turn || q.Enter(inv, left) {
			if n := c.pick(list, left, inv); n != nil {
				s.now = time.Now()
				return n, nil
			}
			turn = false // all are busy, or another call was faster
			continue
		}
		rest := time.Until(s.begun.Add(c.patience(list, inv)))
		if rest <= 0 {
			return nil, c.saturated(left, inv, s, nil)
		}
		turn = q.Wait(ctx, inv, min(rest, look))
		if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			return nil, c.saturated(left, inv, s, err)
		}
		if err := c.ended(ctx); err != nil {
			return nil, err
		}
	}
}

// needy lets a call that has waited for half of its time go to an ejected provider: it may
// do well by now, and nobody else can be called. Those before it would only load the one
// that is ill with all that the others have no slot for. It returns when to look again.
func (c *Invoker) needy(ctx context.Context, list *protocol.Listing, inv *protocol.Invocation, s *selection) time.Duration {
	half := c.patience(list, inv) / 2
	if d, ok := ctx.Deadline(); ok {
		half = min(half, d.Sub(s.begun)/2)
	}
	rest := time.Until(s.begun.Add(half))
	if rest > 0 {
		return rest
	}
	inv.SetRelax(inv.Relaxed() | protocol.RelaxEjected)
	return recheck
}

// patience is how long a call waits for a slot before it has a provider, whose
// own timeout will hold then.
func (c *Invoker) patience(list *protocol.Listing, inv *protocol.Invocation) time.Duration {
	if inv.Timeout > 0 {
		return inv.Timeout
	}
	return c.plan(list.Candidates, inv.Method.Slot).timeout
}

// relax sets which conditions the choice gives up: as few as leave somebody, busy
// or not. It returns false when nobody is left.
//
// An ejected provider comes before one that the call has just tried, and before one
// that is read-only: where an ejection leaves nobody else it is ignored. With needy a
// call never finds less than it would without ejections.
func relax(inv *protocol.Invocation, nodes []*protocol.Node) bool {
	steps := [...]struct {
		state protocol.State
		relax protocol.Relax
	}{{protocol.Ready, 0}, {protocol.ReadOnly, protocol.RelaxState}}
	for _, step := range steps {
		var all, untried, others tally // others: not the one tried last
		for _, n := range nodes {
			if n.State() != step.state {
				continue
			}
			all.add(n)
			if !inv.Tried(n) {
				untried.add(n)
			}
			if n != inv.LastTried() {
				others.add(n)
			}
		}
		switch {
		case all.nodes == 0:
			continue
		case untried.nodes > 0:
			inv.SetRelax(step.relax | untried.relax())
		case others.nodes > 0:
			inv.NewRound()
			inv.SetRelax(step.relax | others.relax())
		default:
			inv.SetRelax(step.relax | protocol.RelaxTried | all.relax())
		}
		return true
	}
	return false
}

// tally counts providers, and those of them that are in service.
type tally struct{ nodes, in int }

func (t *tally) add(n *protocol.Node) {
	t.nodes++
	if !n.Ejected() {
		t.in++
	}
}

// relax gives ejections up if there is nobody else.
func (t *tally) relax() protocol.Relax {
	if t.in == 0 {
		return protocol.RelaxEjected
	}
	return 0
}
