package dubbo

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

const (
	// protocolVersion makes every provider send attachments with its answers.
	protocolVersion = "2.0.2"
	// maxPrefixes bounds the encoded method heads that a service keeps.
	maxPrefixes = 1024
)

// service is what a provider's URL gives to every request, encoded once: an
// endpoint swaps it for a new one when its URL changes.
//
// A request body is the Hessian values
//
//	protocol version, interface, service version, method, descriptor, arguments…, attachments
//
// The interface stands in the body and, with the provider's own path, version and
// group, in the attachments: Dubbo 3 decodes by the former and finds the exported
// service by the latter.
type service struct {
	url     url.URL
	payload int

	head      []byte     // header and the first three values
	addressed []byte     // start of the attachments: where the call goes
	own       []ownValue // attachments that a call may replace

	mu       sync.Mutex
	prefixes atomic.Pointer[[]*prefix] // by Method.ID
}

func newService(u url.URL, application string) *service {
	if name := u.Param("application"); name != "" && u.Param("side") == "consumer" {
		application = name
	}
	s := &service{url: u, payload: payloadOf(u)}
	s.prefixes.Store(new([]*prefix))

	b := frame.Header{Request: true, TwoWay: true, Serialization: frame.Hessian2}.Append(nil)
	b = hessian2.AppendString(b, protocolVersion)
	b = hessian2.AppendString(b, u.Interface())
	s.head = hessian2.AppendString(b, u.ParamOr("version", "0.0.0"))

	path := u.Path()
	if path == "" {
		path = u.Interface()
	}
	b = appendPair([]byte{'H'}, "path", path)
	b = appendPair(b, "interface", u.Interface())
	b = appendPair(b, "version", u.Param("version"))
	s.addressed = appendPair(b, "group", u.Param("group"))
	s.own = []ownValue{
		{"remote.application", appendPair(nil, "remote.application", application)},
		{"token", appendPair(nil, "token", u.Param("token"))},
	}
	return s
}

type ownValue struct {
	key  string
	pair []byte // encoded; empty for none
}

// appendRequest appends the whole frame of a call, id and length apart. budget is
// the time left for it.
func (s *service) appendRequest(b []byte, inv *protocol.Invocation, budget time.Duration) ([]byte, error) {
	b = append(b, s.prefix(inv.Method)...)
	b, err := hessian2.AppendArguments(b, inv.Arguments)
	if err != nil {
		return b, err
	}
	return s.appendAttachments(b, inv, budget), nil
}

func (s *service) appendAttachments(b []byte, inv *protocol.Invocation, budget time.Duration) []byte {
	b = append(b, s.addressed...)
	b = appendTimeout(b, budget)
	for _, o := range s.own {
		if inv.Attachment(o.key) == "" {
			b = append(b, o.pair...)
		}
	}
	b = appendPair(b, "generic", inv.Method.Generic)
	if inv.Tag != "" && inv.Attachment("dubbo.tag") == "" {
		b = appendPair(b, "dubbo.tag", inv.Tag)
	}
	if inv.AttachmentCount() > 0 {
		for key, value := range inv.Attachments() {
			if !reserved(key) {
				b = hessian2.AppendString(hessian2.AppendString(b, key), value)
			}
		}
	}
	return append(b, 'Z')
}

// prefix is everything before the arguments of one method's calls.
type prefix struct {
	name, descriptor string
	bytes            []byte
}

func (p *prefix) of(m *protocol.Method) bool {
	return p != nil && p.name == m.WireName && p.descriptor == m.Descriptor
}

// prefix returns the encoded head of the method's requests. The first method that
// comes with an ID has its place in the table.
func (s *service) prefix(m *protocol.Method) []byte {
	ps := *s.prefixes.Load()
	if uint(m.ID) < uint(len(ps)) && ps[m.ID].of(m) {
		return ps[m.ID].bytes
	}
	b := hessian2.AppendString(slices.Clip(s.head), m.WireName)
	b = slices.Clip(hessian2.AppendString(b, m.Descriptor))
	s.keep(m, b)
	return b
}

func (s *service) keep(m *protocol.Method, b []byte) {
	if uint(m.ID) >= maxPrefixes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ps := slices.Clone(*s.prefixes.Load())
	for len(ps) <= m.ID {
		ps = append(ps, nil)
	}
	if ps[m.ID] == nil {
		ps[m.ID] = &prefix{m.WireName, m.Descriptor, b}
		s.prefixes.Store(&ps)
	}
}

// appendPair appends an attachment, nothing for an empty value.
func appendPair(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return hessian2.AppendString(hessian2.AppendString(b, key), value)
}

// appendTimeout appends the budget in whole milliseconds, rounded up (B166).
func appendTimeout(b []byte, budget time.Duration) []byte {
	var text [20]byte
	ms := (budget + time.Millisecond - 1) / time.Millisecond
	digits := strconv.AppendInt(text[:0], int64(ms), 10)
	b = hessian2.AppendString(b, "timeout")
	b = append(b, byte(len(digits))) // a Hessian string of less than 32 characters
	return append(b, digits...)
}

// reserved reports whether an attachment is the protocol's own: what addresses the
// service, what the wire writes itself, and the call modes, which a provider would
// pass on to calls of its own (B162). What a call attaches under such a name is not
// sent.
func reserved(key string) bool {
	switch key {
	case "path", "interface", "version", "group", "timeout", "generic",
		"async", "return", "sent", "dubbo", "input", "output":
		return true
	}
	return false
}
