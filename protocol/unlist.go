package protocol

// Unlister is an [Endpoint] that can serve on after its provider has left the
// registry's list: with the connections it has, and with no others (B033). A
// directory keeps providers in spite of an empty list only if their endpoints can.
type Unlister interface {
	// Unlist makes the endpoint do without new connections from now on. It reports
	// false, and changes nothing, unless the endpoint is connected and [Ready]. When
	// its connections have ended, or the provider wants no new calls, the endpoint is
	// [Down] for good and lost is called, once. It is called without locks, but not
	// always on a goroutine of its own.
	Unlist(lost func()) bool
	// Relist takes Unlist back: lost is not called any more. It reports false when
	// the endpoint has ended meanwhile.
	Relist() bool
}
