package dubbotest

import (
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// receive handles a request, on the reader goroutine: what is decided here (limits,
// which answer of a script) goes by the order in which calls come. False ends the
// connection.
func (p *Provider) receive(c *conn, h frame.Header, body []byte) bool {
	call, err := readHead(c, h, body)
	head := err == nil
	if head {
		err = call.readRest(p.opt.profile, body)
	}
	p.mu.Lock()
	p.records.add(call)
	p.mu.Unlock()
	if refusal := p.exhausted(h); refusal != nil {
		p.refuse(c, call, refusal)
		return true
	}
	if refusal, refused := p.undecoded(call, head, err); refused {
		p.refuse(c, call, refusal)
		return true
	}
	if refusal := p.notExported(c, call); refusal != nil {
		p.refuse(c, call, refusal)
		return true
	}
	return p.admit(c, call, body)
}

// refuse ends a call that is not served; without an answer silently.
func (p *Provider) refuse(c *conn, call *Call, answer []byte) {
	p.mu.Lock()
	p.records.count.Refused++
	p.records.changed()
	p.mu.Unlock()
	if answer != nil && !call.OneWay {
		c.write(p.bounded(c, call, answer))
	}
}

// bounded returns the answer, or what comes in place of one that is too large.
func (p *Provider) bounded(c *conn, call *Call, answer []byte) []byte {
	size, limit := len(answer)-frame.HeaderLen, p.limits.answerLimit()
	if size <= limit {
		return answer
	}
	status := frame.BadResponse
	if p.opt.profile.modern() {
		status = frame.SerializationError
	}
	return p.opt.profile.status(call.ID, status, tooLarge(c, size, limit))
}

// admit takes the call through what are filters in Java: echo, token, executes.
func (p *Provider) admit(c *conn, call *Call, body []byte) bool {
	t := &task{p: p, c: c, call: call, body: body}
	if call.Method == echoMethod && call.Descriptor == echoDescriptor {
		t.answer = Value(call.Arguments[0])
		t.run()
		return true
	}
	if refusal := p.forbidden(c, call); refusal != nil {
		p.refuse(c, call, refusal)
		return true
	}
	if limit, ok := p.enter(t); !ok {
		p.refuse(c, call, p.overloaded(call, limit))
		return true
	}
	if t.answer.kind == byNobody && !t.answer.hangUp {
		return true
	}
	delay, err := p.delayOf(call)
	if err != nil {
		t.answer = Exception(&protocol.RemoteError{Message: "dubbotest: the delay function: " + err.Error()})
	}
	t.delay = t.answer.delay + delay
	if t.delay > 0 || t.answer.kind == byHandler {
		c.life.serving.Go(t.run)
		return true
	}
	t.run() // in order
	return !t.answer.hangUp
}

// enter finds out who answers a call and counts it as running, if its method's limit
// allows.
func (p *Provider) enter(t *task) (limit int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := t.call.Name()
	r := &p.records
	if limit = p.limits.executes(name); limit > 0 && r.running.method[name] >= limit {
		return limit, false
	}
	t.answer = p.scripts.take(t.call)
	switch {
	case t.answer.kind == byHandler:
		t.handlers = p.find(t.call)
	case t.answer.kind == byNobody && !t.answer.hangUp:
		return 0, true
	}
	t.counted = true
	r.running.begin(name)
	r.count.Peak = max(r.count.Peak, r.running.all)
	r.changed()
	return 0, true
}

// leave ends the counting of a call.
func (p *Provider) leave(t *task) {
	if !t.counted {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records.running.end(t.call.Name())
	p.records.changed()
}

// find returns the functions that can be meant by a call: several only for a generic
// one without types. The lock is held.
func (p *Provider) find(c *Call) (hs []*handler) {
	if c.types != nil {
		if h := p.handlers[handlerKey(c.Name(), hessian2.Descriptor(c.types))]; h != nil {
			return append(hs, h)
		}
	}
	for _, h := range p.handlers {
		if h.Name == c.Name() {
			hs = append(hs, h)
		}
	}
	// Dubbo 2.6 looks at the types of overloads alone.
	lenient := p.opt.profile == Dubbo26 && !c.generic && len(hs) == 1 && len(hs[0].Types) == len(c.types)
	if c.types == nil || lenient {
		return hs
	}
	return nil
}

// serves reports whether the service has the method of a call.
func (p *Provider) serves(c *Call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.Method == echoMethod && c.Descriptor == echoDescriptor ||
		c.generic || p.scripts.has(c) || p.handlers[handlerKey(c.Method, c.Descriptor)] != nil
}

// delayOf asks the delay function.
func (p *Provider) delayOf(c *Call) (delay time.Duration, err error) {
	p.mu.Lock()
	f, age := p.delay, time.Since(p.started)
	p.mu.Unlock()
	if f != nil {
		err = guard(func() { delay = max(f(c, age), 0) })
	}
	return delay, err
}
