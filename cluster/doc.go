// Package cluster makes the providers of a reference look like one invoker:
// Dubbo's cluster layer.
//
// [New] builds it. A call goes through
//
//	Strategy     how many attempts: failover (default), failfast
//	  Directory  the list in force, one atomic load
//	  Router     whom of it the call may go to
//	  balance    whom of these it goes to; see below
//	  Node       the provider with its filters, innermost the active limit
//
// A provider is chosen by the load balancer among those that are ready and not
// ejected, that the call has not tried yet and that have a free slot under "actives". When there is
// none, in this order:
//
//   - All that are ready and untried are saturated: the call waits in line for the
//     first slot that frees, within the deadline of the attempt (F14, F15). After half
//     of that time it takes one of an ejected provider, too.
//   - All that are ready and untried are ejected for their failures:
//     one of them all the same, see [Outliers].
//   - All that are ready were tried: a new round begins. The provider tried last is
//     asked again at once only if it is the only one (B058).
//   - None is ready: one that has asked for no new calls (read-only).
//   - None at all: [protocol.ErrNoProvider] with the funnel that says at which step
//     how many were lost.
//
// The deadline of an attempt counts from its beginning, waiting included; that of
// the context bounds all attempts together.
//
// What a method does is read from the providers' merged URLs, in which overrides
// go over the reference's parameters and these over the provider's: "loadbalance",
// "retries", "sticky", "timeout". Where providers differ, what most of them say
// holds for the list (Java asks whichever comes first, F27).
//
// [Invoker.Explain] tells how a call would be decided, [Config.Trace] how calls were,
// [Invoker.Shadows] what another load balancer would have chosen. [Invoker.Prepare]
// builds what calls need of a list before the list is in force.
package cluster
