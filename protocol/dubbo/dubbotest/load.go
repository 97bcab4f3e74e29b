package dubbotest

import (
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

// loadKey is the attachment by which load balancer adaptive asks for a report, and
// that has it in the answer.
const loadKey = "lb_adaptive"

// usualLoad is reported unless a test sets something else.
const usualLoad = 10.0

// SetLoad sets what the provider reports from now on about its processors, in
// percent, to those who ask: Java's average of a minute, which is below 0 where the
// system has none. Only the profiles of Dubbo 3.2 and later report; before that nobody
// did. 10 is the default. For a report that is no number use [Provider.SetAttachment].
func (p *Provider) SetLoad(percent float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load = percent
}

// loadReport is the attachment with a report. The caller holds the provider's lock.
func (p *Provider) loadReport() string {
	return fmt.Sprintf("curTime:%d,load:%s", time.Now().UnixMilli(), hessian2.Text(p.load))
}
