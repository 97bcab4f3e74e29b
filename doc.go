// Package gofer calls Apache Dubbo services from Go: it finds the providers in
// ZooKeeper, balances over them and speaks the dubbo protocol (TCP, Hessian2) with
// unmodified Java providers of Dubbo 2.6, 2.7 and 3.x.
//
//	client, err := gofer.New(
//		gofer.WithApplication("shop-web"),
//		gofer.WithRegistry("zookeeper://127.0.0.1:2181"))
//	if err != nil { … }
//	defer client.Close()
//
//	orders, err := client.Refer(ctx, "com.example.OrderService?version=1.0.0&loadbalance=leastactive&timeout=800")
//	if err != nil { … }
//	order, err := gofer.Call[*Order](ctx, orders, "find(long)", int64(42))
//
// Names, parameters and their precedence are Dubbo's; see the table in README.md.
//
// # How a call travels
//
//	Call, BoundMethod.Call, Generic   this package     Invocation
//	call filters, once per call       filter
//	cluster: failover, failfast …     cluster          retries, one attempt after another
//	  listing                         registry         Directory: one atomic load
//	  select                          loadbalance      random, roundrobin, leastactive
//	attempt filters, active limit     filter           counts every attempt, releases once
//	endpoint                          protocol/dubbo   connection shared per address
//
// Package protocol is the vocabulary they share, package url the Dubbo URL and the
// parameter table, registry/zookeeper the session and the watches.
//
// # Configuration
//
// [Load] reads application.yml, application.properties, dubbo.properties and the
// environment; [WithConfig] makes a client of it, [Client.Reference] a reference
// declared there, [Config.Explain] tells where each value comes from.
//
// # Lifecycle
//
// A [Client] owns the registry session, the connections and the extensions. A
// [Reference] is one declared service; equal declarations share everything. A
// [BoundMethod] is a method resolved once. Close the client and every goroutine,
// socket and ephemeral node is gone.
//
// # Why there
//
// [Reference.Explain] tells where a call would go and why, [WithTrace] the same of a
// sample of real calls. The parameter "loadbalance.shadow" compares another load
// balancer with the one in force, in [ReferenceSnapshot]: a change can be judged
// before it is made.
//
// # Errors
//
// Every failed call returns an [*Error]. errors.Is tells the kind ([ErrTimeout],
// [ErrNoProvider] …), errors.As finds the Java exception ([*RemoteError]) or the
// way the providers were lost ([*NoProviderError]). [Error].Sent says whether the
// request can have reached a provider.
package gofer
