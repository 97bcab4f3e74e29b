// Package registry finds the providers of a reference.
//
// A [Registry] (package registry/zookeeper, or a fixed list from [NewStatic])
// delivers full snapshots of what is registered under an interface to a
// [Listener]. The [Directory] is that listener for one reference: it picks the
// entries that match the reference, merges their parameters with the
// reference's, keeps one protocol.Node per endpoint across changes, and offers
// the result as one immutable listing that calls read with a single atomic load.
//
// What is known good stays: a registry that is away, an error or a malformed
// entry never shortens a list.
package registry
