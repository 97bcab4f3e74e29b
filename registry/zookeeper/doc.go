// Package zookeeper discovers providers in ZooKeeper, in the layout of Dubbo's
// interface-level registries:
//
//	/dubbo/com.example.OrderService/providers/dubbo%3A%2F%2F10.0.0.7%3A20880%2F…
//	/dubbo/com.example.OrderService/consumers/consumer%3A%2F%2F10.0.0.9%2F…
//	/dubbo/com.example.OrderService/configurators/…
//	/dubbo/com.example.OrderService/routers/…
//
// [New] returns a [Registry] for one address; [Pool] lets registries with
// different root groups share one connection.
//
//	r, err := zookeeper.New(u)                        // does not wait for the server
//	sub, err := r.Subscribe(reference, listener)      // full snapshots, now and later
//	err = sub.Ready(ctx)                              // waits for the first one
//	err = r.Register(consumer)                        // ephemeral, kept across sessions
//	err = r.Close()
//
// # How it works
//
// A session owns the connection to the ensemble (session.go, dialer.go): it
// replaces a connection that cannot get a session any more, limits how long a
// server may take over the handshake, and says when the session may be used.
// A watcher keeps one state per watched path (watcher.go). Watch events and new
// sessions only mark paths as due; a queue (queue.go) has them read by a few
// workers, at most one read per path at a time. What was read becomes one
// immutable snapshot per interface and goes to the mailbox of each subscription
// (mailbox.go), which holds the newest only. Registrations (register.go) are jobs
// of the same queue.
//
// # What it promises
//
//   - Only a successful read changes a list. A lost connection, an expired session
//     or an error keeps the last one (B012); it is flagged stale after a moment.
//   - Every path is read again after each new session, whether or not the watches
//     survived, and every few minutes it is checked for a change that went unseen.
//   - Lists are ordered by what was read last (B017). One from a server that lags
//     behind is not taken for news.
//   - A list that is suddenly empty, or lost more than half, is believed only after
//     a second read a moment later.
//   - Nothing gives up: reads and registrations are repeated for ever, with full
//     jitter up to 30 seconds (B019).
//   - A slow listener delays neither other listeners nor the session (B025).
//   - There is no goroutine per path or provider; an idle registry has four.
package zookeeper
