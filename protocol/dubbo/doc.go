// Package dubbo speaks the dubbo protocol: Hessian 2 in 16-byte frames over TCP,
// as Java Dubbo 2.6, 2.7 and 3.x do. It is the wire end of the call path: a
// [Protocol] makes a [protocol.Endpoint] for each provider URL, and the endpoint
// carries out invocations.
//
//	p := dubbo.New(dubbo.WithApplication("shop-web"))
//	defer p.Close()
//	e, err := p.Refer(providerURL)      // begins to connect
//	result, err := e.Invoke(ctx, inv)   // the value goes to inv.Result
//
// What lives where, from the outside in:
//
//	protocol.go   Protocol: endpoints, and who shares connections
//	endpoint.go   one call: encode, send, wait, decode
//	request.go    the request's bytes; what a provider's calls share, encoded once
//	failure.go    errors that arise here;  status.go: error statuses of the provider
//	exchange.go   the connections to one address, reference counted
//	link.go       one of them, or the attempts to get it back;  dial.go, settings.go
//	conn.go       one TCP connection
//	call.go       … its pending table;  write.go, read.go, clock.go: its three actors
//	stats.go      figures for people
//
// # One call
//
// The caller's goroutine encodes the frame and appends it to the connection's
// output buffer. A flush goroutine writes what has gathered: it lets the other
// callers go first, so that under load one system call carries many frames. The
// reader copies each answer's body into the slot of its call and wakes the caller,
// which decodes it. One timer per connection serves all deadlines and the
// heartbeat. There is no goroutine and no timer per call, and no lock around
// anything that can block; a string echo allocates its result.
//
// # One connection
//
// Heartbeats go both ways; after three silent periods the connection is replaced.
// Three timeouts in a row without a complete frame lead to a probe at once; until it is
// answered the endpoint's state is [protocol.ReadOnly], so that a frozen provider
// costs the calls that are at it and hardly more. A provider that shuts down says
// so with a readonly event: the same state, and running calls go on.
//
// When a connection is lost its calls fail at once, each with the knowledge whether
// any byte of it had been given to the socket, and the link connects again in the
// background: quickly the first time, then with growing, jittered pauses up to 5 s,
// half a second while calls ask for the provider: a look at the endpoint's state is
// enough. Meanwhile calls fail at once with
// the reason. A new connection to a provider that was silent, or closed the last one
// unasked, has to answer a heartbeat before calls use it.
package dubbo
