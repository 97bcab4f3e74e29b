package dubbotest

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// What a provider answers to a call that it cannot serve differs from release line
// to release line, in status and text. Behind the first line of a status 70 comes a
// Java stack trace; here it has one frame.

// undecoded answers a call that Java cannot make an invocation of: the body is
// broken or, from 2.7 on, there is no such method. The answer may be none.
func (p *Provider) undecoded(c *Call, head bool, err error) (answer []byte, refused bool) {
	profile := p.opt.profile
	switch {
	case !head && profile.modern():
		return nil, true
	case head && profile != Dubbo26 && !p.knows(c):
		return profile.badRequest(c, "java.lang.IllegalArgumentException", "Service not found:"+c.Path+", "+c.Method), true
	case err != nil:
		return profile.badRequest(c, "com.alibaba.com.caucho.hessian.io.HessianProtocolException", err.Error()), true
	}
	return nil, false
}

// knows reports whether the service and the method are known by the strings at the
// beginning of the request.
func (p *Provider) knows(c *Call) bool {
	u := p.exported()
	if c.Path != u.Path() || p.opt.profile.modern() && plainVersion(c.Version) != plainVersion(u.Param("version")) {
		return false
	}
	return c.Descriptor == "" || p.serves(c)
}

// plainVersion is a service version, of which 0.0.0 is none.
func plainVersion(v string) string {
	if v == "0.0.0" {
		return ""
	}
	return v
}

// badRequest answers status 40. Only 2.7 gives the reason.
func (p Profile) badRequest(c *Call, class, message string) []byte {
	text := undecodable("null")
	switch {
	case p == Dubbo27:
		text = "Fail to decode request due to: " + trace(class, message)
	case p == Dubbo26:
		text = "Fail to decode request due to: " + p.invocation(c, "null")
	case c.Method != "":
		text = undecodable(c.Method)
	}
	return p.status(c.ID, frame.BadRequest, text)
}

func undecodable(method string) string {
	return fmt.Sprintf("Fail to decode request due to: RpcInvocation [methodName=%s, parameterTypes=null]", method)
}

// trace is how Dubbo writes an exception into a text.
func trace(class, message string) string {
	line := class + ": " + message
	return line + "\n" + line + "\n\tat " + here + "\n"
}

// here stands for a stack trace.
const here = "com.github.gofer.Dubbotest.serve(Dubbotest.java)"

// notExported answers a call to another service; nil if it is for ours.
func (p *Provider) notExported(c *conn, call *Call) []byte {
	profile, u := p.opt.profile, p.exported()
	path, version, group := call.addressed()
	wanted, own := u.WithPath(path).With("version", version, "group", group).ExporterKey(), u.ExporterKey()
	if wanted == own {
		return nil
	}
	return profile.status(call.ID, frame.ServiceError, trace(profile.pkg()+".remoting.RemotingException", fmt.Sprintf(
		"Not found exported service: %s in [%s], may be version or group mismatch , channel: consumer: /%s --> provider: /%s, message:%s",
		wanted, own, c.RemoteAddr(), c.LocalAddr(), profile.invocation(call, fmt.Sprint(call.Arguments)))))
}

// invocation prints a call as Java does; 2.6 shows all of it.
func (p Profile) invocation(c *Call, arguments string) string {
	types := make([]string, len(c.types))
	for i, t := range c.types {
		if types[i] = t; primitiveTypes[t] == 0 {
			types[i] = "class " + t
		}
	}
	method, list := c.Method, "["+strings.Join(types, ", ")+"]"
	if method == "" {
		method, list = "null", "null"
	}
	if p != Dubbo26 {
		return fmt.Sprintf("RpcInvocation [methodName=%s, parameterTypes=%s]", method, list)
	}
	all := map[string]any{"input": frame.HeaderLen + c.Length, "dubbo": c.Dubbo, "path": c.Path, "version": c.Version}
	maps.Copy(all, c.Attachments)
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if all[key] != "" {
			pairs = append(pairs, fmt.Sprintf("%s=%v", key, all[key]))
		}
	}
	return fmt.Sprintf("RpcInvocation [methodName=%s, parameterTypes=%s, arguments=%s, attachments={%s}, attributes={serialization_id=%d}]",
		method, list, arguments, strings.Join(pairs, ", "), c.Flags&0x1f)
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
	return p.serviceError(c, p.pkg()+".rpc.RpcException", message)
}

func (p Profile) serviceError(c *Call, class, message string) []byte {
	return p.status(c.ID, frame.ServiceError, trace(class, message))
}

// overloaded answers a call over the limit "executes".
func (p *Provider) overloaded(call *Call, limit int) []byte {
	return p.opt.profile.rpcException(call, fmt.Sprintf(
		`Failed to invoke method %s in provider %s, cause: The service using threads greater than <dubbo:service executes="%d" /> limited.`,
		call.Name(), p.exported().Full(), limit))
}

// noMethod answers a call of a method that nobody has, where it comes so far.
func (p *Provider) noMethod(call *Call) []byte {
	u, profile := p.exported(), p.opt.profile
	switch {
	case call.generic && (profile.modern() || call.types == nil):
		return profile.rpcException(call, fmt.Sprintf("No such method %s in class interface %s", call.Name(), u.Path()))
	case call.generic:
		return profile.rpcException(call, u.Path()+"."+call.Signature)
	}
	return profile.rpcException(call, fmt.Sprintf(
		`Failed to invoke remote proxy method %s to %s, cause: Not found method "%s" in class %s.`,
		call.Name(), u.Full(), call.Name(), u.Path()))
}

// notUnique answers a generic call without types of a method that has overloads.
func (p *Provider) notUnique(call *Call, n int) []byte {
	return p.opt.profile.serviceError(call, "java.lang.IllegalStateException", fmt.Sprintf(
		"Not unique method for method name(%s) in class(%s), find %d methods.", call.Name(), p.exported().Path(), n))
}

// unconverted answers a generic call whose arguments are not those of the method.
func (p Profile) unconverted(c *Call, m *misfit) []byte {
	class, message := "java.lang.IllegalArgumentException", m.Error()
	switch {
	case p == Dubbo26:
		return p.serviceError(c, class, message)
	case m.at < 0:
		return p.rpcException(c, "GenericFilter#invoke "+message+", please check your params")
	}
	return p.rpcException(c, class+": "+message)
}
