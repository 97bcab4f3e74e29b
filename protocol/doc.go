// Package protocol is the vocabulary of the call path: the few types that every
// layer between a user's call and the socket shares.
//
//   - [Invoker] is anything that can carry out an [Invocation]: a filter chain,
//     a cluster, one provider.
//   - [Invocation] is one call of one [Method]: arguments, attachments, deadline
//     and, once a provider has been chosen, the attempt under way. Its [Result]
//     lives inside it.
//   - [Node] is one provider endpoint of one reference. It survives registry
//     notifications; its counters ([Status], Dubbo's RpcStatus) belong to its
//     current [Life], one per start of the provider.
//   - [Candidates] is an immutable list of nodes and the home of the state that
//     load balancers derive from that list.
//   - [Queue] is the line of the calls that wait for a slot under "actives".
//   - [Error] says why a call failed, how far it got and whether another
//     provider may be asked; [RemoteError] is a Java exception.
//   - [Endpoint] and [Protocol] are what a wire protocol provides.
//
// The package knows no socket, no registry and no strategy; it imports only
// package url.
package protocol
