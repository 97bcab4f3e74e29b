package protocol

// Connecting is an [Endpoint] that tells callers that a connection is on its way.
// Nobody is invoked while it is down, but a call that would find nobody else can
// wait for such a provider.
type Connecting interface {
	// Watch asks for a signal on wake, which must have room for one, when something
	// about the connection changes. It returns false, and sends none, when none may
	// come soon: only a first connection, or the first one after a loss, is worth
	// waiting for, and only until an attempt has failed.
	Watch(wake chan<- struct{}) bool
	// Unwatch takes Watch back.
	Unwatch(wake chan<- struct{})
}
