package dubbo

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

// What an error status means depends on its text, which several thousand bytes of
// Java stack trace may follow. Errors keep the first line, bounded.
const (
	maxText = 512
	maxList = 2048 // for the text that lists what the provider exports
)

// verdict is what a failed call means to the caller.
type verdict struct {
	code  protocol.Code
	retry protocol.Retry
}

// serviceErrors are the texts of status 70 that tell for certain what happened,
// most of all that the method did not run. The first one contained decides.
var serviceErrors = []struct {
	text string
	verdict
}{
	{"Not found exported service", verdict{protocol.ErrNotFound, protocol.RetryAlways}},
	{"The service using threads greater than", verdict{protocol.ErrLimitExceeded, protocol.RetryAlways}}, // executes
	{"Invalid token!", verdict{protocol.ErrForbidden, protocol.RetryNever}},
	{"Forbid invoke remote service", verdict{protocol.ErrForbidden, protocol.RetryNever}},
	{"Not unique method", verdict{protocol.ErrNotFound, protocol.RetryNever}}, // $invoke without types
	{"No such method", verdict{protocol.ErrNotFound, protocol.RetryNever}},
	{"NoSuchMethodException", verdict{protocol.ErrNotFound, protocol.RetryNever}},
	{"Failed to invoke remote proxy method", verdict{protocol.ErrNotFound, protocol.RetryNever}}, // no such method, or its arguments do not fit
	{"Trigger the safety barrier!", verdict{protocol.ErrSerialization, protocol.RetryNever}},
	{"Deserialize argument failed", verdict{protocol.ErrSerialization, protocol.RetryNever}},
}

// refused makes the error of a call that the provider answered with a status other
// than OK. read is false when the text is in a serialization that is not known.
func (a *attempt) refused(h frame.Header, text string, read bool) *protocol.Error {
	switch h.Status {
	case frame.BadResponse:
		if remote, ok := hessian2.RemoteFromText(text); ok { // the method threw it
			a.maskRemote(remote)
			return a.executed(protocol.ErrBusiness, remote)
		}
		return a.status(h, text, read, verdict{protocol.ErrSerialization, protocol.RetryNever})
	case frame.SerializationError:
		return a.status(h, text, read, verdict{protocol.ErrSerialization, protocol.RetryNever})
	case frame.BadRequest:
		return a.badRequest(h, text, read)
	case frame.ServiceNotFound:
		return a.status(h, text, read, verdict{protocol.ErrNotFound, protocol.RetryAlways})
	case frame.ServiceError:
		v := a.serviceError(text)
		e := a.status(h, text, read, v)
		if v.code == protocol.ErrNotFound {
			a.hintInferred(e)
		}
		return e
	case frame.ServerError:
		return a.status(h, text, read, verdict{protocol.ErrNetwork, protocol.RetryAlways})
	case frame.PoolExhausted:
		return a.status(h, text, read, verdict{protocol.ErrLimitExceeded, protocol.RetryAlways})
	}
	return a.status(h, text, read, verdict{protocol.ErrNetwork, protocol.RetryPolicy})
}

// status makes the error of a status: the verdict and the essence of the text.
func (a *attempt) status(h frame.Header, text string, read bool, v verdict) *protocol.Error {
	what := essence(a.mask(text))
	switch {
	case !read:
		what = fmt.Sprintf("its text of serialization %d cannot be read", h.Serialization)
	case what == "":
		what = "no text"
	}
	e := a.fail(v.code, v.retry, fmt.Errorf("provider answered status %s: %s", h.Status, what))
	if v.code == protocol.ErrLimitExceeded {
		e.Detail += "; a limit of the provider's own (executes, threads), the method did not run"
	}
	e.Sent = true
	return e
}

// mask replaces the token that was sent, the provider's or the call's own, in what
// the provider says: some versions repeat what they got.
func (a *attempt) mask(text string) string {
	for _, token := range [...]string{a.s.url.Param("token"), a.inv.Attachment("token")} {
		if token != "" {
			text = strings.ReplaceAll(text, token, "***")
		}
	}
	return text
}

func (a *attempt) maskRemote(r *protocol.RemoteError) {
	for ; r != nil; r = r.Cause {
		r.Message = a.mask(r.Message)
	}
}

func (a *attempt) serviceError(text string) verdict {
	line := firstLine(text)
	for _, s := range serviceErrors {
		if strings.Contains(line, s.text) {
			return s.verdict
		}
	}
	if m := a.inv.Method; strings.Contains(line, "RpcException: "+m.Service+"."+m.Name+"(") {
		return verdict{protocol.ErrNotFound, protocol.RetryNever} // $invoke of a method that 2.x does not know
	}
	return verdict{protocol.ErrNetwork, protocol.RetryPolicy} // may have run
}

// badRequest makes the error of status 40: the provider could not make a call of
// the request, so nothing ran. Dubbo 2.6 and 3.x have one text for every reason,
// so the error lists what was sent.
func (a *attempt) badRequest(h frame.Header, text string, read bool) *protocol.Error {
	v := verdict{protocol.ErrNotFound, protocol.RetryNever}
	if a.c.readonly.Load() {
		v.retry = protocol.RetryAlways // it is shutting down and has withdrawn its services
	}
	e := a.status(h, text, read, v)
	m := a.inv.Method
	e.Detail += fmt.Sprintf("; it knows no such interface, version, method or descriptor, or cannot read an argument. Sent: interface %q, version %q, method %q, descriptor %q, arguments (%s)",
		a.s.url.Interface(), a.s.url.ParamOr("version", "0.0.0"), m.WireName, m.Descriptor, argumentTypes(a.inv.Arguments))
	a.hintInferred(e)
	if s := a.s.url.Param("serialization"); s != "" && s != "hessian2" {
		e.Detail += fmt.Sprintf("; the provider's URL says serialization=%s: if it does not permit hessian2, it refuses every call of this client", s)
	}
	return e
}

// hintInferred adds how to state a signature that was inferred: the likeliest
// reason why a provider does not know it.
func (a *attempt) hintInferred(e *protocol.Error) {
	if m := a.inv.Method; m.Inferred {
		e.Detail += fmt.Sprintf("; the descriptor was inferred from the Go arguments: name the Java types to be sure, as in %q", m.Name+"("+strings.Join(m.Parameters, ",")+")")
	}
}

func argumentTypes(args []any) string {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = fmt.Sprintf("%T", a)
	}
	return strings.Join(types, ", ")
}

// essence returns the part of a provider's text that says what went wrong.
func essence(text string) string {
	line := firstLine(text)
	if strings.Contains(line, "Not found exported service") {
		line, _, _ = strings.Cut(line, ", may be version or group mismatch")
		return bound(line, maxList)
	}
	if strings.HasPrefix(line, "Failed to send response: ") {
		if _, cause, ok := strings.Cut(line, "]], cause: "); ok {
			line = cause
		}
		return bound(line, maxText)
	}
	// "Failed to invoke method m in provider dubbo://…, cause: X" of the provider's filters
	if _, cause, ok := strings.Cut(line, ", cause: "); ok {
		line = cause
	}
	return bound(shortURLs(line), maxText)
}

// shortURLs drops the parameters of the URLs in a text: they are long, and among
// them may be a token.
func shortURLs(line string) string {
	words := strings.Split(line, " ")
	for i, w := range words {
		if u, _, ok := strings.Cut(w, "?"); ok && strings.Contains(u, "://") {
			words[i] = url.Redact(u) + "?…"
		}
	}
	return strings.Join(words, " ")
}

// firstLine returns the first line of a text, fit for a log.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line))
}

// bound cuts a text that is too long for an error, between characters.
func bound(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
