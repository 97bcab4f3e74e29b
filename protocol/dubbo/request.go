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

	head   []byte // header and the first three values
	before []byte // attachments up to the timeout
	behind []byte // attachments behind it

	mu       sync.Mutex
	prefixes atomic.Pointer[[][]byte] // by Method.ID: head, method, descriptor
}

func newService(u url.URL, application string) *service {
	if name := u.Param("application"); name != "" && u.Param("side") == "consumer" {
		application = name
	}
	s := &service{url: u, payload: payloadOf(u)}
	s.prefixes.Store(new([][]byte))

	b := frame.Header{Request: true, TwoWay: true, Serialization: frame.Hessian2}.Append(nil)
	b = hessian2.AppendString(b, protocolVersion)
	b = hessian2.AppendString(b, u.Interface())
	s.head = hessian2.AppendString(b, u.ParamOr("version", "0.0.0"))

	path := u.Path()
	if path == "" {
		path = u.Interface()
	}
	s.before = []byte{'H'}
	s.before = appendPair(s.before, "path", path)
	s.before = appendPair(s.before, "interface", u.Interface())
	s.before = appendPair(s.before, "version", u.Param("version"))
	s.before = appendPair(s.before, "group", u.Param("group"))
	s.behind = appendPair(s.behind, "remote.application", application)
	s.behind = appendPair(s.behind, "token", u.Param("token"))
	return s
}

// appendRequest appends the whole frame of a call, id and length apart. budget is
// the time left for it.
func (s *service) appendRequest(b []byte, inv *protocol.Invocation, budget time.Duration) ([]byte, error) {
	m := inv.Method
	b = append(b, s.prefix(m)...)
	b, err := hessian2.AppendArguments(b, inv.Arguments)
	if err != nil {
		return b, err
	}
	b = append(b, s.before...)
	b = appendTimeout(b, budget)
	b = append(b, s.behind...)
	b = appendPair(b, "generic", m.Generic)
	if inv.Tag != "" && inv.Attachment("dubbo.tag") == "" {
		b = appendPair(b, "dubbo.tag", inv.Tag)
	}
	if inv.AttachmentCount() > 0 {
		token := s.url.Param("token")
		for key, value := range inv.Attachments() {
			if !reserved(key) && (key != "token" || value != token) {
				b = hessian2.AppendString(hessian2.AppendString(b, key), value)
			}
		}
	}
	return append(b, 'Z'), nil
}

// prefix returns everything before the arguments.
func (s *service) prefix(m *protocol.Method) []byte {
	if ps := *s.prefixes.Load(); uint(m.ID) < uint(len(ps)) && ps[m.ID] != nil {
		return ps[m.ID]
	}
	p := hessian2.AppendString(slices.Clip(s.head), m.WireName)
	p = hessian2.AppendString(p, m.Descriptor)
	if uint(m.ID) >= maxPrefixes {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ps := slices.Clone(*s.prefixes.Load())
	for len(ps) <= m.ID {
		ps = append(ps, nil)
	}
	ps[m.ID] = slices.Clip(p)
	s.prefixes.Store(&ps)
	return p
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
