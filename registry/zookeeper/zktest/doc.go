// Package zktest is an in-process server that speaks ZooKeeper's client protocol,
// for tests and demonstrations without a JVM.
//
//	zk, err := zktest.Start()
//	defer zk.Close()
//	u, err := url.Parse("zookeeper://" + zk.Addr())
//	err = zk.Create("/dubbo/com.example.OrderService/providers/"+name, "")
//
// With [InMemory] there is no socket, and a test can run in a testing/synctest
// bubble.
//
// Clients need not know: go-zookeeper/zk and Apache Curator work with it unchanged.
// It can do what a real server does only when things go wrong: [Server.Cut]
// connections, [Server.Refuse] new ones, [Server.Freeze], [Server.ExpireSession],
// [Server.DropEvents], [Server.FailNext] request, [Server.Delay], [Server.Stop] and
// [Server.Resume], and [Server.Wipe] its data; [Server.Heal] ends all that.
// [Server.Requests], [Server.Sessions] and [Server.Dump] show what clients did.
//
// # Limits
//
// It is one server without disk: no quorum, so no lag between servers; no
// quotas, no SASL, no reconfiguration, no TTL. Empty container nodes are removed
// after ten seconds. Requests it does not know are answered "unimplemented".
package zktest
