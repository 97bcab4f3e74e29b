package registry

import (
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/url"
)

// maxProblems is how many different bad parameters of providers are reported.
const maxProblems = 64

// problems reports bad parameters that providers sent: each one once, however
// many providers send it and however often. Calls use the default instead.
type problems struct {
	log  *zap.Logger
	seen map[[2]string]bool
}

func (p *problems) check(u url.URL) {
	for _, b := range url.Validate(u) {
		id := [2]string{b.Key, brief(b.Value)}
		switch {
		case p.seen[id] || len(p.seen) > maxProblems:
			continue
		case p.seen == nil:
			p.seen = map[[2]string]bool{}
		}
		p.seen[id] = true
		if len(p.seen) > maxProblems {
			p.log.Warn("more bad parameters of providers, not reported one by one")
			continue
		}
		p.log.Warn("a bad parameter of a provider is replaced",
			zap.String("key", b.Key), zap.String("value", id[1]), zap.String("reason", b.Reason),
			zap.String("used", b.Fallback), zap.String("provider", b.URL))
	}
}
