package dubbotest

import (
	"fmt"
	"net"
	"strings"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// What a provider answers to a call that it cannot serve differs from release line
// to release line, in status and text. Behind the first line of a status 70 comes a
// Java stack trace; here it has one frame.

// unreadable answers a call whose body cannot be decoded; nil is no answer.
func (p Profile) unreadable(c *Call, h frame.Header, err error) []byte {
	if h.Serialization != frame.Hessian2 && p.modern() {
		return nil
	}
	return p.status(c.ID, frame.BadRequest, p.badRequest(c, "java.io.IOException", err.Error()))
}

// badRequest is the text of status 40. Only 2.7 gives the reason.
func (p Profile) badRequest(c *Call, class, message string) string {
	if p == Dubbo27 {
		return "Fail to decode request due to: " + trace(class, message)
	}
	if c.Method == "" {
		return undecodable("null")
	}
	return undecodable(c.Method)
}

func undecodable(method string) string {
	return fmt.Sprintf("Fail to decode request due to: RpcInvocation [methodName=%s, parameterTypes=null]", method)
}

// trace is how Dubbo writes an exception into a text.
func trace(class, message string) string {
	line := class + ": " + message
	return line + "\n" + line + "\n\tat com.github.gofer.Dubbotest.serve(Dubbotest.java)\n"
}

// unknown answers a call that is for no service or method exported here; nil if it
// is for ours.
func (p *Provider) unknown(c *conn, call *Call) []byte {
	profile, u := p.opt.profile, p.exported()
	itf := u.Path()
	if profile != Dubbo26 {
		known := call.Path == itf && (call.Descriptor == "" || p.serves(call))
		if profile.modern() {
			known = known && plainVersion(call.Version) == plainVersion(u.Param("version"))
		}
		if !known {
			return profile.status(call.ID, frame.BadRequest, profile.badRequest(call,
				"java.lang.IllegalArgumentException", "Service not found:"+call.Path+", "+call.Method))
		}
	}
	path, version, group := call.addressed()
	wanted := u.WithPath(path).With("version", version, "group", group).ExporterKey()
	if own := u.ExporterKey(); wanted != own {
		return profile.status(call.ID, frame.ServiceError, trace(profile.pkg()+".remoting.RemotingException", fmt.Sprintf(
			"Not found exported service: %s in [%s], may be version or group mismatch , channel: consumer: /%s --> provider: /%s, message:%s",
			wanted, own, c.RemoteAddr(), c.LocalAddr(), profile.invocation(call))))
	}
	return nil
}

// plainVersion is a service version, of which 0.0.0 is none.
func plainVersion(v string) string {
	if v == "0.0.0" {
		return ""
	}
	return v
}

// invocation prints a call.
func (p Profile) invocation(c *Call) string {
	types := make([]string, len(c.types))
	for i, t := range c.types {
		types[i] = "class " + t
	}
	more := ""
	if p == Dubbo26 {
		more = ", arguments=[], attachments={}"
	}
	return fmt.Sprintf("RpcInvocation [methodName=%s, parameterTypes=[%s]%s]", c.Method, strings.Join(types, ", "), more)
}

// forbidden answers a call with a wrong token; nil if it is right.
func (p *Provider) forbidden(c *conn, call *Call) []byte {
	u := p.exported()
	token := u.Param("token")
	if token == "" || call.Attachment("token") == token {
		return nil
	}
	text := fmt.Sprintf("Invalid token! Forbid invoke remote service interface %s method %s() from consumer %s to provider %s",
		u.Path(), call.Name(), hostOf(c.RemoteAddr()), hostOf(c.LocalAddr()))
	if p.opt.profile != Dubbo26 {
		given := call.Attachment("token")
		if given == "" {
			given = "null"
		}
		text += ", consumer incorrect token is " + given
	}
	return p.opt.profile.rpcException(call, text)
}

// hostOf is an address without its port.
func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

func (p Profile) rpcException(c *Call, message string) []byte {
	return p.status(c.ID, frame.ServiceError, trace(p.pkg()+".rpc.RpcException", message))
}

// overloaded answers a call over the limit "executes".
func (p *Provider) overloaded(call *Call, limit int) []byte {
	return p.opt.profile.rpcException(call, fmt.Sprintf(
		`Failed to invoke method %s in provider %s, cause: The service using threads greater than <dubbo:service executes="%d" /> limited.`,
		call.Name(), p.exported().Full(), limit))
}

// noMethod answers a call of a method that nobody has, where it comes so far.
func (p *Provider) noMethod(call *Call) []byte {
	u := p.exported()
	switch {
	case call.Generic() && p.opt.profile == Dubbo33, call.Generic() && call.types == nil:
		return p.opt.profile.rpcException(call, fmt.Sprintf("No such method %s in class interface %s", call.Name(), u.Path()))
	case call.Generic():
		return p.opt.profile.rpcException(call, u.Path()+"."+call.Signature)
	}
	return p.opt.profile.rpcException(call, fmt.Sprintf(
		`Failed to invoke remote proxy method %s to %s, cause: Not found method "%s" in class %s.`,
		call.Name(), u.Full(), call.Name(), u.Path()))
}

// notUnique answers a generic call without types of a method that has overloads.
func (p *Provider) notUnique(call *Call, n int) []byte {
	return p.opt.profile.rpcException(call, fmt.Sprintf(
		"java.lang.IllegalStateException: Not unique method for method name(%s) in class(%s), find %d methods.",
		call.Name(), p.exported().Path(), n))
}
