// Package dubbotest is an in-process dubbo provider, for tests and demonstrations
// without a JVM. Three lines of a test:
//
//	p := dubbotest.Start(t, "com.example.OrderService")
//	p.Handle("find(long)", func(id int64) (*Order, error) { return &Order{ID: id}, nil })
//	orders, err := client.Refer(ctx, p.URL("timeout=800"))
//
// It speaks what Java providers speak, down to their error texts: unknown services,
// methods, versions, groups and tokens, and the limits executes, threads, payload and
// accepts are answered with the statuses and texts of the release line chosen by
// [WithProfile]. Generic calls ($invoke) and $echo work with every method.
//
// # Faults
//
// [Provider.Answer] scripts what calls get instead of the function's result, in turn
// or always: values, exceptions, statuses, late answers or none, broken bytes, closed
// connections.
//
//	p.Answer("find", dubbotest.Status(100, "full"), dubbotest.Never(), dubbotest.Handler())
//
// [Provider.Stop] shuts down as SIGTERM does, [Provider.Kill] as SIGKILL,
// [Provider.Freeze] hangs as SIGSTOP, [Provider.Restart] comes back on the same port.
// [WithDelay] and [ColdStart] slow it down.
//
// # What came in
//
// [Provider.Calls] has every call with its arguments, attachments and connection,
// [Provider.Counters] the figures. [Provider.Await] waits for figures, so that a test
// need not sleep:
//
//	err := p.Await(ctx, func(c dubbotest.Counters) bool { return c.InFlight == 3 })
//
// # Registries
//
// [Provider.Register] makes it an entry of a ZooKeeper, real or of package zktest.
//
// # In memory
//
// With [InMemory] there is no socket: consumers connect with [Provider.Dial] or
// [Dialer], and a test can run in a testing/synctest bubble, where a timeout of a
// minute takes no time.
//
// # Limits
//
// One service per provider, no callbacks, no TLS, no telnet; Hessian 2 only. Of the
// generic forms there is generic=true, and arguments are converted as far as the
// codec does, not as far as Java's PojoUtils. Exceptions are taken for declared ones:
// none is wrapped, and from Dubbo 3.3's allow list those of the JDK are known.
// Wherever Java looks for the next frame in bytes that are none, the connection is
// closed. Behind error texts there is one line of stack trace, and where a text of
// Java quotes a library, it quotes ours.
package dubbotest
