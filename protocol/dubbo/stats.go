package dubbo

import (
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/protocol"
)

// Connection is a picture of one connection, or of the attempts to make it.
type Connection struct {
	Address string // of the provider, as dialled
	Local   string // our end, "" while there is no connection
	Shared  bool   // by all references to the address that want no connections of their own
	Users   int    // endpoints that refer to it
	State   protocol.State
	Reason  string // why the state is not ready, "" when it is; no secrets

	InFlight  int   // calls under way
	Queued    int64 // bytes that wait for the socket
	Connects  int64 // connections made so far
	Failures  int   // attempts in a row that led to nothing
	Writes    int64 // system calls that wrote, over all connections made; one carries many calls
	Reads     int64 // reads that brought something
	Late      int64 // answers that came after their call had ended, and were dropped
	LastError string
	Draining  bool // nobody refers to it any more: it waits for the running calls
	Number    int  // of several connections to the address, which one: from 0
}

// Connections returns a picture of all connections, by address.
func (p *Protocol) Connections() []Connection {
	p.mu.Lock()
	all := make([]*exchange, 0, len(p.exchanges))
	for x := range p.exchanges {
		all = append(all, x)
	}
	p.mu.Unlock()
	var cs []Connection
	for _, x := range all {
		cs = x.appendConnections(cs)
	}
	slices.SortStableFunc(cs, func(a, b Connection) int { return strings.Compare(a.Address, b.Address) })
	return cs
}

func (x *exchange) appendConnections(cs []Connection) []Connection {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, l := range x.links {
		c := Connection{
			Address: x.settings.address, Shared: !x.settings.private, Users: len(x.endpoints), State: l.state(),
			Connects: l.tally.connects, Failures: l.failures, Draining: x.closed != nil, Number: i,
			Writes: l.tally.writes, Reads: l.tally.reads, Late: l.tally.late,
		}
		if err := x.reason(); err != nil {
			c.Reason = err.Error()
		}
		if l.last != nil {
			c.LastError = l.last.Error()
		}
		if k := l.conn; k != nil {
			c.Local = l.local
			c.InFlight, c.Queued = k.inFlight(), k.waiting()
			c.Writes += k.writes.Load()
			c.Reads += k.reads.Load()
			c.Late += k.late.Load()
		}
		cs = append(cs, c)
	}
	return cs
}
