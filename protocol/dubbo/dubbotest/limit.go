package dubbotest

import (
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

// limits are the parameters by which a provider refuses.
type limits struct {
	accepts   int // connections; 0: any number
	threads   int // calls that run; 0: any number
	payload   int // bytes of a body; 0: any number
	executes  func(method string) int
	heartbeat time.Duration
}

// Dubbo's defaults.
const (
	defaultThreads   = 200
	defaultPayload   = 8 << 20
	defaultHeartbeat = time.Minute
)

func newLimits(u url.URL, profile Profile) (limits, error) {
	var errs []error
	number := func(key string, def int) int {
		text := u.Param(key)
		if text == "" {
			return def
		}
		n, err := url.Int(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("parameter %s=%q is no number", key, text))
		}
		return max(n, 0)
	}
	l := limits{
		accepts:   number("accepts", 0),
		threads:   number("threads", defaultThreads),
		payload:   number("payload", defaultPayload),
		heartbeat: time.Duration(number("heartbeat", int(defaultHeartbeat/time.Millisecond))) * time.Millisecond,
	}
	if profile.modern() && u.Param("payload") == "" {
		l.payload = 0 // Dubbo 3 checks requests only where the operator has set it
	}
	for key := range u.Params() {
		if key == "executes" || len(key) > 9 && key[len(key)-9:] == ".executes" {
			number(key, 0)
		}
	}
	l.executes = func(method string) int {
		n, err := url.Int(u.MethodParam(method, "executes"))
		if err != nil {
			return 0
		}
		return n
	}
	return l, errors.Join(errs...)
}

// answerLimit is the longest body of an answer; Dubbo 3 has the default for these.
func (l limits) answerLimit() int {
	if l.payload == 0 {
		return defaultPayload
	}
	return l.payload
}

// running counts the calls under way: all, and by method name.
type running struct {
	all    int
	method map[string]int
}

func (r *running) begin(method string) {
	if r.method == nil {
		r.method = map[string]int{}
	}
	r.all++
	r.method[method]++
}

func (r *running) end(method string) {
	r.all--
	if r.method[method]--; r.method[method] == 0 {
		delete(r.method, method)
	}
}

// exhausted is the answer of a full thread pool; nil: there is room.
func (p *Provider) exhausted(h frame.Header) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.limits.threads
	if n <= 0 || p.records.running.all < n {
		return nil
	}
	host, port := p.service.Host(), p.service.Port()
	words := "thread pool is exhausted, detail msg:"
	if p.opt.profile == Dubbo26 {
		words = "threadpool is exhausted ,detail msg:"
	}
	return p.opt.profile.status(h.ID, frame.PoolExhausted, fmt.Sprintf(
		"Server side(%s,%d) %sThread pool is EXHAUSTED! Thread Name: DubboServerHandler-%s:%d, "+
			"Pool Size: %d (active: %d, core: %d, max: %d, largest: %d), Task: %d (completed: %d), "+
			"Executor status:(isShutdown:false, isTerminated:false, isTerminating:false), in dubbo://%s:%d!",
		host, port, words, host, port, n, n, n, n, n, p.records.count.Calls, p.records.count.Calls-n, host, port))
}
