package dubbotest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Answer is a scripted answer, see [Provider.Answer]. It is a value: its methods
// return a changed copy. The zero value is [Handler].
type Answer struct {
	kind        answerKind
	value       any
	exception   *protocol.RemoteError
	status      int
	text        string
	raw         func(*Call) []byte
	delay       time.Duration
	attachments map[string]any

	wrongID, twice, hangUp bool
	unlimited              bool // no limit for its size
	serialization          int  // plus one; 0: the usual one
}

type answerKind int

const (
	byHandler answerKind = iota
	byValue
	byException
	byStatus
	byRaw
	byNobody
	unread
)

// Handler lets the function that serves the method answer, as without a script.
func Handler() Answer { return Answer{} }

// Value answers a value; nil is null or void.
func Value(v any) Answer {
	return Answer{kind: byValue, value: v}
}

// Large answers a string of n characters, whatever the provider's payload limit.
func Large(n int) Answer {
	a := Value(strings.Repeat("x", max(n, 0)))
	a.unlimited = true
	return a
}

// Exception answers that the method threw.
func Exception(e *protocol.RemoteError) Answer {
	return Answer{kind: byException, exception: e}
}

// Throw is [Exception] for a class and a message.
func Throw(class, message string) Answer {
	return Exception(&protocol.RemoteError{Class: class, Message: message})
}

// Status answers an error status of the protocol and its text: 40, 50, 70, 80, 100
// and so on. Dubbo's own texts come by themselves where its reasons are there: a
// wrong group, a full thread pool.
func Status(status int, text string) Answer {
	return Answer{kind: byStatus, status: status, text: text}
}

// Never takes the call and answers nothing. It does not count as running.
func Never() Answer { return Answer{kind: byNobody} }

// Raw writes bytes in place of the answer; b gets the call and returns them. Halves
// of frames are possible, and several.
func Raw(b func(c *Call) []byte) Answer {
	return Answer{kind: byRaw, raw: b}
}

// Garbage writes bytes that are no frame.
func Garbage() Answer {
	return Raw(func(*Call) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") })
}

// HangUp closes the connection in place of an answer.
func HangUp() Answer { return Never().ThenHangUp() }

// HangUpUnread closes the connection when the call's header has come, before its
// body is read. Which method it is for is not known then: it can be an answer to
// any method ("") only.
func HangUpUnread() Answer { return Answer{kind: unread} }

// After makes the answer take its time.
func (a Answer) After(d time.Duration) Answer {
	a.delay = d
	return a
}

// With adds an attachment.
func (a Answer) With(key string, value any) Answer {
	a.attachments = maps.Clone(a.attachments)
	if a.attachments == nil {
		a.attachments = map[string]any{}
	}
	a.attachments[key] = value
	return a
}

// WrongID answers a request that nobody made.
func (a Answer) WrongID() Answer {
	a.wrongID = true
	return a
}

// Twice sends the answer two times.
func (a Answer) Twice() Answer {
	a.twice = true
	return a
}

// ThenHangUp closes the connection behind the answer.
func (a Answer) ThenHangUp() Answer {
	a.hangUp = true
	return a
}

// InSerialization claims another serialization in the header; the body stays what
// it is.
func (a Answer) InSerialization(id byte) Answer {
	a.serialization = int(id) + 1
	return a
}

// check finds what cannot be answered.
func (a Answer) check() error {
	switch {
	case a.kind == byException && a.exception == nil:
		return errors.New("Exception(nil): there is no exception, write Value(nil) for null")
	case a.kind == byRaw && a.raw == nil:
		return errors.New("Raw(nil): there is no function")
	case a.kind == byStatus && (a.status < 0 || a.status > 255):
		return fmt.Errorf("Status(%d): a status is a byte, such as 20, 40 or 100", a.status)
	}
	return nil
}

// script is what is scripted for a method.
type script struct {
	once   []Answer
	always *Answer
}

// scripts are guarded by the provider's lock. A key is a signature, a name, or ""
// for all methods.
type scripts map[string]*script

// Answer scripts the next calls of a method: each gets one of the answers, in
// order, and those after them go to the method's function again. Further answers
// come behind. method is a name (find), a signature where there are overloads
// (find(long)), or "" for all; what is scripted more exactly goes first. A method
// that has a script exists, with or without a function.
//
// Service, group, version, token and limits are checked before.
func (p *Provider) Answer(method string, answers ...Answer) error {
	if p.tb != nil {
		p.tb.Helper()
	}
	return p.script(method, func(s *script) { s.once = append(s.once, answers...) }, answers...)
}

// AnswerAlways scripts all calls of a method for which [Provider.Answer] has nothing.
func (p *Provider) AnswerAlways(method string, answer Answer) error {
	if p.tb != nil {
		p.tb.Helper()
	}
	return p.script(method, func(s *script) { s.always = &answer }, answer)
}

// Unscript drops what is scripted for a method, as given to [Provider.Answer].
func (p *Provider) Unscript(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.scripts, method)
}

func (p *Provider) script(method string, change func(*script), answers ...Answer) error {
	if p.tb != nil {
		p.tb.Helper()
	}
	for _, a := range answers {
		if err := a.check(); err != nil {
			return p.mistake(fmt.Errorf("dubbotest: answer of %q: %w", method, err))
		}
	}
	if method != "" {
		if slices.ContainsFunc(answers, func(a Answer) bool { return a.kind == unread }) {
			return p.mistake(fmt.Errorf("dubbotest: HangUpUnread for %s: a method is not known before it was read, script it for \"\"", method))
		}
		name, err := canonical(method)
		if err != nil {
			return p.mistake(fmt.Errorf("dubbotest: %w", err))
		}
		method = name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scripts[method] == nil {
		p.scripts[method] = &script{}
	}
	change(p.scripts[method])
	return nil
}

// keys are where a call's script may be, the most exact first.
func (c *Call) keys() [3]string { return [3]string{c.Signature, c.Name(), ""} }

// take returns the next answer for a call: the handler's when nothing is scripted.
func (s scripts) take(c *Call) (a Answer) {
	for _, key := range c.keys() {
		if e := s[key]; e != nil && len(e.once) > 0 {
			a, e.once = e.once[0], e.once[1:]
			return a
		}
	}
	for _, key := range c.keys() {
		if e := s[key]; e != nil && e.always != nil {
			return *e.always
		}
	}
	return Handler()
}

// has reports whether anything is scripted for the call.
func (s scripts) has(c *Call) bool {
	for _, key := range c.keys() {
		if e := s[key]; e != nil && (len(e.once) > 0 || e.always != nil) {
			return true
		}
	}
	return false
}

// hangsUpUnread reports whether the next answer to any method is to hang up before
// the request is read, and takes it.
func (p *Provider) hangsUpUnread() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.scripts[""]
	switch {
	case s == nil:
		return false
	case len(s.once) > 0:
		if s.once[0].kind != unread {
			return false
		}
		s.once = s.once[1:]
		return true
	default:
		return s.always != nil && s.always.kind == unread
	}
}
