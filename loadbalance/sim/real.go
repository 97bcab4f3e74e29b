package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gofer-rpc/gofer/cluster"
	"github.com/gofer-rpc/gofer/loadbalance"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// real is a consumer that chooses with a load balancer of this module: with nodes,
// lives, counters and the ejection of outliers as in an application. Only the wire is
// missing.
type real struct {
	w        *world
	table    protocol.MethodTable
	method   *protocol.Method
	balancer loadbalance.LoadBalance
	outliers *cluster.Outliers
	nodes    []*protocol.Node // by server; nil: never heard of
	listed   []bool
	list     *protocol.Candidates
	index    map[*protocol.Node]int32
}

const (
	serviceName = "com.example.Service"
	methodName  = "call"
)

func newReal(w *world, consumer int, name string, factory loadbalance.Factory) (chooser, error) {
	c := &real{
		w:      w,
		nodes:  make([]*protocol.Node, len(w.servers)),
		listed: make([]bool, len(w.servers)),
		index:  make(map[*protocol.Node]int32, len(w.servers)),
	}
	c.method = &protocol.Method{Service: serviceName, Name: methodName, WireName: methodName, Slot: c.table.Slot(methodName)}
	rng := stream(w.seed, forPolicies, uint64(consumer))
	var err error
	c.balancer, err = loadbalance.New(map[string]loadbalance.Factory{name: factory}, name, loadbalance.Config{
		Reference: url.New("consumer", "10.0.0.0", 0, serviceName, nil),
		Now:       func() time.Time { return clock(w.now) },
		Rand:      rng.Uint64,
	})
	if err != nil {
		return nil, err
	}
	if c.balancer == nil {
		return nil, errors.New("the factory returned neither a load balancer nor an error")
	}
	if o, ok := c.balancer.(protocol.Observer); ok {
		c.table.Observe(o)
	}
	c.outliers = cluster.NewOutliers(func() *protocol.Candidates { return c.list }, nil)
	c.table.Observe(c.outliers)
	for _, v := range w.servers {
		if v.up {
			c.update(v)
			c.listed[v.id] = true
		}
	}
	c.relist()
	return c, nil
}

// address is where a server is.
func address(id int32) string { return fmt.Sprintf("10.%d.%d.%d", id>>16+1, id>>8&255, id&255) }

const port = 20880

// params are those of a server's URL.
func (v *server) params(s *Scenario) map[string]string {
	p := map[string]string{
		"timeout": strconv.FormatInt(max(1, s.Deadline.Milliseconds()), 10),
	}
	if v.conf.Weight != 0 {
		p["weight"] = strconv.Itoa(max(0, v.conf.Weight)) // or None
	}
	maps.Copy(p, v.conf.Params)
	return p
}

func (v *server) url(s *Scenario) url.URL {
	return url.New("dubbo", address(v.id), port, serviceName, v.params(s))
}

// update puts the present life of a server in force.
func (c *real) update(v *server) {
	n := c.nodes[v.id]
	if n == nil {
		n = protocol.NewNode(address(v.id), v.url(c.w.s), clock(v.born), &c.table, new(endpoint), nil)
		c.nodes[v.id], c.index[n] = n, v.id
		return
	}
	n.Endpoint().(*endpoint).state = protocol.Ready
	n.Update(v.url(c.w.s), clock(v.born))
}

// relist makes the list of who is known, and prepares for it as an application does.
func (c *real) relist() {
	nodes := make([]*protocol.Node, 0, len(c.nodes))
	for i, n := range c.nodes {
		if c.listed[i] {
			nodes = append(nodes, n)
		}
	}
	c.list = protocol.NewCandidates(nodes, c.list)
	if p, ok := c.balancer.(loadbalance.Preparer); ok && len(nodes) > 0 {
		p.Prepare(c.list, c.method.Slot)
	}
}

func (c *real) learn(v *server, how int32) {
	switch how {
	case starts:
		c.update(v)
		c.listed[v.id] = true
		c.relist()
	case dies:
		if n := c.nodes[v.id]; n != nil { // it may have died before anybody knew it
			n.Endpoint().(*endpoint).state = protocol.Down
		}
	case leaves:
		c.listed[v.id] = false
		c.relist()
	}
}

func (c *real) choose(r *request) int32 {
	now := clock(c.w.now)
	inv := &r.inv
	c.prepare(r)
	n := c.outliers.Trial(c.list, inv, now, false)
	if n == nil {
		n = c.pick(r)
	}
	if n == nil {
		return -1
	}
	inv.StartAttempt(n, now, now.Add(c.w.s.Deadline))
	return c.index[n]
}

// prepare makes the invocation of a request.
func (c *real) prepare(r *request) {
	r.inv = protocol.Invocation{Method: c.method, Start: clock(c.w.now)}
	if r.key >= 0 {
		r.inv.Arguments = c.w.keys.argument(r.key)
		r.inv.ArgumentText = argumentText
	}
}

// pick asks the load balancer, and if it finds nobody once more about those that
// are ejected, too.
func (c *real) pick(r *request) *protocol.Node {
	inv, nodes := &r.inv, c.list.Nodes()
	for _, relax := range []protocol.Relax{0, protocol.RelaxEjected} {
		inv.SetRelax(relax)
		if len(nodes) == 1 && inv.Allows(nodes[0]) {
			return nodes[0]
		}
		if len(nodes) > 1 {
			n := c.balancer.Select(c.list, inv)
			if _, known := c.index[n]; n != nil && !known {
				c.w.broken = errors.New("the load balancer chose a node that it was not given")
				return nil
			}
			if n != nil && inv.Allows(n) && slices.Contains(nodes, n) {
				return n
			}
		}
		if i := slices.IndexFunc(nodes, inv.Allows); i >= 0 {
			if r.measured && !r.long {
				c.w.figures.replaced++
			}
			return nodes[i]
		}
	}
	return nil
}

func (c *real) place(r *request) {
	c.prepare(r)
	r.inv.StartAttempt(c.nodes[r.server], r.inv.Start, r.inv.Start.Add(c.w.s.Deadline))
}

func (c *real) begun(r *request) {
	n := r.inv.Node
	r.begun = n.Life()
	r.status = r.begun.Status(c.method.Slot)
	r.status.Begin(0)
	for _, o := range n.Observers() {
		o.Begun(&r.inv, r.begun)
	}
}

func (c *real) ended(r *request, a answer) {
	elapsed := clock(c.w.now).Sub(r.inv.Begun)
	if c.w.reports && a == served {
		r.inv.Result.Attachments = map[string]any{"lb_adaptive": r.report.text()}
	}
	r.status.End(elapsed, a != served)
	for _, o := range r.inv.Node.Observers() {
		o.Ended(&r.inv, protocol.Outcome{Life: r.begun, Elapsed: elapsed, Verdict: verdicts[a], Err: answerErrors[a]})
	}
	r.inv.Result.Return()
	r.inv.EndAttempt()
}

// endpoint is the wire side of a node, without a wire.
type endpoint struct{ state protocol.State }

func (e *endpoint) Invoke(context.Context, *protocol.Invocation) (*protocol.Result, error) {
	return nil, &protocol.Error{Code: protocol.ErrUnknown, Detail: "a simulated provider cannot be called"}
}
func (e *endpoint) State() protocol.State { return e.state }
func (e *endpoint) StateReason() error    { return nil }
func (e *endpoint) Update(url.URL)        {}
func (e *endpoint) Close()                {}
