package filter

import (
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// Filter makes the invoker that stands before next. It is called when the chain is
// composed, not per call; the invoker it returns must be safe for concurrent use.
type Filter func(next protocol.Invoker) protocol.Invoker

// Pair is what one name in a chain stands for: a filter per call, one per attempt,
// both, or neither when the reference's parameters give it nothing to do.
type Pair struct {
	Call    Filter
	Attempt Filter
}

// Config is what a filter may need to know about the reference it is made for.
type Config struct {
	// Reference is the reference's own URL.
	Reference url.URL
	// Application is the name of the calling application.
	Application string
	// Logger is never nil when a factory is called.
	Logger *zap.Logger
}

// Factory makes a filter for one reference. Its error fails the reference, so it
// should name the parameter that is wrong.
type Factory func(cfg Config) (Pair, error)

// Builtin returns the filters that come with gofer, by Dubbo's names, in a fresh
// map.
func Builtin() map[string]Factory {
	return map[string]Factory{
		"consumercontext": ConsumerContext,
	}
}

// defaults are the filters that a reference has unless it says otherwise,
// outermost first: what Dubbo calls activated, or "default" in reference.filter.
var defaults = []string{"consumercontext"}
