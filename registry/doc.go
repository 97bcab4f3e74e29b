// Package registry finds the providers of a reference.
//
// A [Registry] (package registry/zookeeper, or a fixed list from [NewStatic])
// delivers full snapshots of what is registered under an interface to a
// [Listener]. The [Directory] is that listener for one reference: it picks the
// entries that match the reference, merges their parameters with the
// reference's, keeps one protocol.Node per endpoint across changes, and offers
// the result as one immutable listing that calls read with a single atomic load.
//
//	directory := registry.NewDirectory(registry.DirectoryConfig{Reference: u, Refer: wire.Refer})
//	subscription, err := zk.Subscribe(u, directory)
//	…
//	nodes := directory.List().Candidates.Nodes()
//
// What is known good stays: a registry that is away, an error or a malformed
// entry never shortens a list. What is not used is not forgotten either: the
// funnel of a listing says how many providers are registered and why some of them
// are refused.
//
// Where to look: match.go which entries a reference uses; roster.go how a list is
// compared with the one before; notify.go what a change does to the nodes; life.go
// when a provider has started; static.go direct addresses; consumer.go how a
// reference shows itself in the registry; cache.go the file of the last known lists,
// for a start while the registry is away.
package registry
