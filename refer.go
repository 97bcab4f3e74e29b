package gofer

import (
	"errors"
	"fmt"
	neturl "net/url"
	"regexp"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/url"
)

var interfaceName = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*(\.[\pL_$][\pL\pN_$]*)*$`)

// declaration is a reference as the user wrote it, understood.
type declaration struct {
	url    url.URL   // consumer://host/interface?parameters
	direct []url.URL // fixed providers; empty: ask the registry
}

// parseDeclaration reads the text given to Refer: an interface name with
// parameters, or one or several provider addresses.
func parseDeclaration(text, host string) (declaration, error) {
	text = strings.TrimSpace(text)
	var d declaration
	var err error
	switch {
	case text == "":
		return d, errors.New("empty reference: write an interface name with parameters, such as com.example.OrderService?version=1.0.0&timeout=800, or a provider address, dubbo://host:port/interface")
	case strings.Contains(beforeQuery(text), "://"):
		d, err = parseDirect(text, host)
	default:
		d, err = parseNamed(text, host)
	}
	if err != nil {
		return d, err
	}
	if name := d.url.Interface(); !interfaceName.MatchString(name) {
		return d, fmt.Errorf("%q is not a Java interface name: write it with its package, such as com.example.OrderService", name)
	}
	return d, checkParameters(d.url)
}

func beforeQuery(s string) string {
	s, _, _ = strings.Cut(s, "?")
	return s
}

func parseNamed(text, host string) (declaration, error) {
	u, err := url.Parse("consumer://" + host + "/" + text)
	if err != nil {
		return declaration{}, err
	}
	if name := u.Path(); u.Param("interface") == "" {
		if name == "" {
			return declaration{}, fmt.Errorf("no interface in %q: write it before the parameters, com.example.OrderService?…", url.Redact(text))
		}
		u = u.With("interface", name)
	}
	d := declaration{url: u}
	if at := u.Param("url"); at != "" { // Dubbo's attribute url: fixed providers
		plain, err := neturl.PathUnescape(at)
		if err != nil {
			return d, fmt.Errorf("parameter url=%q: %w", at, err)
		}
		d.url = u.Without("url")
		for _, one := range splitAddresses(plain) {
			p, err := parseProvider(one, d.url.Interface())
			if err != nil {
				return d, err
			}
			d.direct = append(d.direct, p)
		}
	}
	return d, nil
}

// parseDirect reads dubbo://host:port/interface?parameters, several separated by
// semicolons. Parameters that all addresses share are the reference's; others
// (weight, say) stay with their provider.
func parseDirect(text, host string) (declaration, error) {
	var d declaration
	for _, one := range splitAddresses(text) {
		p, err := parseProvider(one, "")
		if err != nil {
			return d, err
		}
		if len(d.direct) > 0 && p.Interface() != d.direct[0].Interface() {
			return d, fmt.Errorf("addresses of one reference name two interfaces: %s and %s", d.direct[0].Interface(), p.Interface())
		}
		d.direct = append(d.direct, p)
	}
	first := d.direct[0]
	shared := map[string]string{}
	for k, v := range first.Params() {
		if !slices.ContainsFunc(d.direct, func(p url.URL) bool { return p.Param(k) != v }) {
			shared[k] = v
		}
	}
	shared["interface"] = first.Interface()
	d.url = url.New("consumer", host, 0, first.Interface(), shared)
	return d, nil
}

func parseProvider(text, iface string) (url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return u, fmt.Errorf("provider address %q: %w", url.Redact(text), err)
	case u.Protocol() != "dubbo":
		return u, fmt.Errorf("provider address %q: protocol %q is not spoken, only dubbo://", u, u.Protocol())
	case u.Host() == "":
		return u, fmt.Errorf("provider address %q has no host: dubbo://host:port/interface", u)
	case u.Port() <= 0 || u.Port() > 65535:
		return u, fmt.Errorf("provider address %q has no usable port: dubbo://host:port/interface, Dubbo's default port is 20880", u)
	}
	if u.Path() == "" {
		if iface == "" {
			iface = u.Param("interface")
		}
		if iface == "" {
			return u, fmt.Errorf("provider address %q names no interface: dubbo://host:port/com.example.OrderService", u)
		}
		u = u.WithPath(iface)
	}
	return u, nil
}

// splitAddresses splits at semicolons that start a new address; inside a query a
// semicolon separates parameters.
func splitAddresses(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ";") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case len(out) > 0 && !strings.Contains(beforeQuery(part), "://"):
			out[len(out)-1] += ";" + part
		default:
			out = append(out, part)
		}
	}
	return out
}

// checkParameters reports every bad value that the user wrote, all at once (B170).
func checkParameters(u url.URL) error {
	var errs []error
	for _, p := range url.Validate(u) {
		errs = append(errs, fmt.Errorf("parameter %s=%s: %s", p.Key, p.Value, p.Reason)) // whose URL it is, the user knows
	}
	for _, key := range []string{"injvm", "scope"} {
		if v := u.Param(key); url.Bool(v) || v == "local" {
			errs = append(errs, fmt.Errorf("parameter %s=%s: there is no in-process service in Go", key, v))
		}
	}
	return errors.Join(errs...)
}

// checkSpelling refuses what can hardly be anything but a slip in a reference that a
// program writes by the name of its interface, as configuration does. Other parameters
// that nobody knows pass, and any do in the address of a provider.
func checkSpelling(text string, u url.URL) error {
	if strings.Contains(beforeQuery(text), "://") {
		return nil
	}
	var errs []error
	for key := range u.Params() {
		if near := url.Misspelt(key); near != "" {
			errs = append(errs, fmt.Errorf("parameter %s: unknown, did you mean %q? One of your own of such a name can be set with WithProperty or in a file, under parameters", key, near))
		}
	}
	return errors.Join(errs...)
}

// warnUnknown logs parameters that nobody knows, with the nearest known name.
// Dubbo allows any parameter, so this is no error.
func warnUnknown(log *zap.Logger, u url.URL) {
	for _, p := range url.Warnings(u) {
		log.Warn("doubtful parameter, passed on as it is", zap.String("parameter", p.Key), zap.String("reason", p.Reason))
	}
}
