package dubbotest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// task is a call that is being served.
type task struct {
	p        *Provider
	c        *conn
	call     *Call
	body     []byte
	answer   Answer
	handlers []*handler // that can be meant
	delay    time.Duration
	counted  bool

	mu          sync.Mutex
	attachments map[string]any // set by the function
}

type taskKey struct{}

// FromContext returns the call that a function given to [Provider.Handle] serves,
// nil for another context. It must not be changed.
func FromContext(ctx context.Context) *Call {
	if t, ok := ctx.Value(taskKey{}).(*task); ok {
		return t.call
	}
	return nil
}

// Attach adds an attachment to the answer of the call that the context is of.
func Attach(ctx context.Context, key string, value any) {
	if t, ok := ctx.Value(taskKey{}).(*task); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.attachments == nil {
			t.attachments = map[string]any{}
		}
		t.attachments[key] = value
	}
}

// run serves the call to its end. The call stops to count as running before its
// answer is written: who has the answer may call again.
func (t *task) run() {
	if !t.wait() {
		t.p.leave(t)
		return
	}
	answer := t.bytes()
	t.p.leave(t)
	if t.c.life.ctx.Err() != nil {
		return // a dead provider does not speak
	}
	if answer != nil && !t.call.OneWay {
		if !t.answer.unlimited && t.answer.kind != byRaw {
			answer = t.p.bounded(t.c, t.call, answer)
		}
		t.c.write(answer)
		if t.answer.twice {
			t.c.write(answer)
		}
	}
	if t.answer.hangUp {
		t.c.hangUp(false)
	}
}

// wait waits for the delay; false: the provider has ended before.
func (t *task) wait() bool {
	ended := t.c.life.ctx.Done()
	if t.delay <= 0 {
		return true
	}
	timer := time.NewTimer(t.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ended:
		return false
	}
}

// bytes makes the answer.
func (t *task) bytes() []byte {
	a, call := &t.answer, t.call
	switch a.kind {
	case byNobody:
		return nil
	case byRaw:
		var raw []byte
		if err := guard(func() { raw = a.raw(call) }); err != nil {
			return t.faulty(fmt.Errorf("the function given to Raw: %w", err))
		}
		return raw
	case byStatus:
		return t.mark(t.p.opt.profile.status(call.ID, frame.Status(a.status), a.text))
	case byValue:
		return t.mark(t.result(a.value))
	case byException:
		return t.mark(t.thrown(a.exception))
	}
	return t.mark(t.handle())
}

// mark makes the faults of a scripted answer.
func (t *task) mark(f []byte) []byte {
	if id := t.answer.serialization; id > 0 {
		f[2] = f[2]&^0x1f | byte(id-1)&0x1f
	}
	if t.answer.wrongID {
		frame.Seal(f, ^t.call.ID)
	}
	return f
}

// handle lets the function of the method answer.
func (t *task) handle() []byte {
	if n := len(t.handlers); n != 1 {
		if n > 1 {
			return t.p.notUnique(t.call, n)
		}
		return t.p.noMethod(t.call)
	}
	h := t.handlers[0]
	args, bad := t.arguments(h)
	switch {
	case bad == nil:
	case t.call.generic:
		return t.p.opt.profile.unconverted(t.call, bad)
	case t.p.opt.profile.modern():
		return t.p.opt.profile.status(t.call.ID, frame.BadRequest, undecodable(t.call.Method))
	case h.Descriptor != t.call.Descriptor:
		return t.thrown(miscast(t.call.types[bad.at], h.Types[bad.at]))
	case bad.primitive: // null cannot be passed to it
		return t.thrown(&protocol.RemoteError{Class: "java.lang.NullPointerException"})
	}
	value, failure := t.invoke(h, args)
	if failure != nil && failure.Class == "" && bad != nil {
		failure.Message = fmt.Sprintf("%s (called with a zero value: %v)", failure.Message, bad)
	}
	if failure != nil {
		return t.thrown(failure)
	}
	if a, scripted := value.(Answer); scripted {
		return t.follow(a)
	}
	return t.result(value)
}

// follow gives the answer that a function has returned.
func (t *task) follow(a Answer) []byte {
	if err := a.check(); err != nil {
		return t.faulty(fmt.Errorf("the function returned an Answer: %w", err))
	}
	switch a.kind {
	case byHandler: // it has answered already
		a.kind = byValue
	case unread: // too late
		a.kind, a.hangUp = byNobody, true
	}
	t.answer, t.delay = a, a.delay
	if !t.wait() {
		return nil
	}
	f := t.bytes()
	t.answer.wrongID, t.answer.serialization = false, 0 // made
	return f
}

// invoke calls the function. What it fails with is an exception, without a class if
// it is none of Java's.
func (t *task) invoke(h *handler, args []reflect.Value) (value any, failure *protocol.RemoteError) {
	if err := guard(func() {
		var err error
		if value, err = h.call(context.WithValue(t.c.life.ctx, taskKey{}, t), args); err != nil {
			failure = exceptionOf(err)
		}
	}); err != nil {
		return nil, &protocol.RemoteError{Message: err.Error()}
	}
	return value, failure
}

// faulty is the answer in place of one that cannot be made: a test's author finds out
// by what arrives.
func (t *task) faulty(err error) []byte {
	return t.thrown(&protocol.RemoteError{Message: "dubbotest: " + err.Error()})
}

// arguments decodes the arguments for the function. What does not fit is null in
// Dubbo 2, and a refusal in Dubbo 3.
func (t *task) arguments(h *handler) (args []reflect.Value, bad *misfit) {
	if t.call.generic {
		args, bad = h.genericArguments(t.call.Arguments[2])
	} else {
		args, bad = h.arguments(t.body)
	}
	if bad != nil {
		t.p.mu.Lock()
		t.call.Misfit = bad // the record is the provider's
		t.p.mu.Unlock()
	}
	return args, bad
}

// result makes the answer of a call that returned.
func (t *task) result(value any) []byte {
	call, profile := t.call, t.p.opt.profile
	if call.Generic() {
		value = generalized(value)
	}
	kind := resultValue
	if isNull(value) {
		kind = resultNull
	}
	body, err := encodeResult(kind, value, t.reply())
	if err != nil {
		return profile.status(call.ID, frame.BadResponse,
			profile.unsent(call, fmt.Sprintf("%T, exception=null", value), err.Error()))
	}
	return answerFrame(call.ID, frame.Hessian2, frame.OK, body)
}

// thrown makes the answer of a call that threw.
func (t *task) thrown(e *protocol.RemoteError) []byte {
	call, profile := t.call, t.p.opt.profile
	e = sound(e)
	if call.Generic() {
		e = genericException(e)
	} else if class := profile.unlisted(e); class != "" {
		return profile.status(call.ID, frame.BadResponse, profile.unsendable(call, e, "org.apache.dubbo.common.serialize.SerializationException: "+
			"java.lang.IllegalArgumentException: [Serialization Security] Serialized class "+class+" is not in allow list. "+
			"Current mode is `STRICT`, will disallow to deserialize it by default. "+
			"Please add it into security/serialize.allowlist or follow FAQ to configure it."))
	}
	body, err := encodeResult(resultException, throwable(e), t.reply())
	if err != nil {
		return profile.status(call.ID, frame.BadResponse, profile.unsendable(call, e, err.Error()))
	}
	return answerFrame(call.ID, frame.Hessian2, frame.OK, body)
}

// reply returns the attachments of the answer; nil when the consumer takes none.
func (t *task) reply() map[string]any {
	if !t.p.opt.profile.takesAttachments(t.call.Dubbo) {
		return nil
	}
	all := map[string]any{"dubbo": protocolVersion}
	t.p.mu.Lock()
	if t.p.opt.profile.modern() && t.call.Attachment(loadKey) != "" {
		all[loadKey] = t.p.loadReport()
	}
	maps.Copy(all, t.p.attached)
	t.p.mu.Unlock()
	maps.Copy(all, t.answer.attachments)
	t.mu.Lock()
	maps.Copy(all, t.attachments)
	t.mu.Unlock()
	return all
}

func isNull(v any) bool {
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return rv.IsNil()
	}
	return false
}
