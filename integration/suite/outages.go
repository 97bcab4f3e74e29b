package suite

import "github.com/gofer-rpc/gofer"

// outage is a client behind a relay that knows two providers.
type outage struct {
	*play
	ref    *gofer.Reference
	second string
	ended  func() // of the calls
}

// newOutage lets a client with a short session see two providers of the server at an
// address, which may be a relay's.
func newOutage(p *play, address string) *outage {
	p.Helper()
	o := &outage{play: p}
	p.tree.Add(p.iface, 1)
	o.second = p.tree.Add(p.iface, 2)
	c := p.client(address + "?session=2000")
	o.ref = p.refer(c, p.iface)
	p.sees("two", o.ref, "1", "2")
	o.ended = p.calls(c)
	return o
}

// change changes the list while the client cannot see it, and once more when it can.
func (o *outage) change(heal func() error) {
	o.Helper()
	o.tree.Add(o.iface, 3)
	o.tree.Remove(o.second)
	o.keeps("nothing is lost or learned meanwhile", o.ref, "1", "2")
	if err := heal(); err != nil {
		o.Fatal(err)
	}
	o.sees("what has changed meanwhile", o.ref, "1", "3")
	o.stale("known to be good again", o.ref, false)
	o.tree.Add(o.iface, 4)
	o.sees("what changes then", o.ref, "1", "3", "4")
	o.ended()
}

// cut: connections are lost, and refused for a while.
func cut(p *play) {
	relay := p.relay()
	o := newOutage(p, relay.Addr())
	relay.Refuse()
	p.stale("known to be old", o.ref, true)
	o.change(relay.Resume)
	for range 3 { // short ones, with changes between them
		relay.Cut()
		path := p.tree.Add(p.iface, 5)
		p.sees("a short cut, one more", o.ref, "1", "3", "4", "5")
		relay.Cut()
		p.tree.Remove(path)
		p.sees("a short cut, one less", o.ref, "1", "3", "4")
		p.seen = p.seen[:len(p.seen)-2]
	}
	p.keeps("after short cuts", o.ref, "1", "3", "4")
}

// expired: nothing answers for longer than the session lasts, so that it and the
// consumer's entry are gone, and come back.
func expired(p *play) {
	relay := p.relay()
	o := newOutage(p, relay.Addr())
	consumers := p.tree.Category(p.iface, "consumers")
	p.nodes("the consumer's entry", consumers, 1)
	relay.Freeze()
	p.nodes("gone with the session", consumers, 0)
	p.stale("known to be old", o.ref, true)
	o.change(relay.Resume)
	p.nodes("the consumer's entry in the next session", consumers, 1)
}

// killed: the server goes and comes back with its data.
func killed(p *play) {
	p.server = p.start(p.T)
	p.tree = NewTree(p, p.server.Addr())
	o := newOutage(p, p.server.Addr())
	consumers := p.tree.Category(p.iface, "consumers")
	p.nodes("the consumer's entry", consumers, 1)
	if err := p.server.Kill(); err != nil {
		p.Fatal(err)
	}
	p.stale("known to be old", o.ref, true)
	p.keeps("nothing is lost", o.ref, "1", "2")
	if err := p.server.Start(p.Context()); err != nil {
		p.Fatal(err)
	}
	p.stale("known to be good again", o.ref, false)
	p.tree.Add(p.iface, 3)
	p.sees("one more", o.ref, "1", "2", "3")
	p.tree.Remove(o.second)
	p.sees("one less", o.ref, "1", "3")
	p.nodes("the consumer's entry as before", consumers, 1)
	o.ended()
}
