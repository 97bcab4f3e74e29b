package zookeeper

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	neturl "net/url"

	"github.com/gofer-rpc/gofer/url"
)

// Categories of the nodes below an interface, in the order they are subscribed.
const (
	providers = iota
	configurators
	routers
	categories
)

var categoryNames = [categories]string{"providers", "configurators", "routers"}

const (
	defaultPort    = "2181"
	defaultRoot    = "dubbo"
	defaultSession = 30 * time.Second
	minSession     = time.Second
)

// address is a registry URL taken apart.
type address struct {
	servers []string // host:port
	user    string   // "" without credentials
	secret  string   // user:password
	root    string   // "/dubbo", "" for the top
	session time.Duration
	source  string // for people, without secrets
}

// parseAddress reads
//
//	zookeeper://[user:password@]host:2181[,host2:2181…][?backup=…&group=…&session=…]
//
// and names everything that is wrong with it.
func parseAddress(u url.URL) (address, error) {
	a := address{session: defaultSession}
	bad := func(format string, args ...any) (address, error) {
		return address{}, fmt.Errorf("registry address %s: %w", u, fmt.Errorf(format, args...))
	}
	if u.Protocol() != "zookeeper" {
		return bad("protocol %q is not zookeeper", u.Protocol())
	}
	if p := u.Path(); p != "" && !strings.HasSuffix(p, "RegistryService") {
		return bad("path %q: a chroot is not supported, use group=%s", p, p)
	}
	for _, s := range u.Addresses() {
		hostPort, err := serverAddress(s)
		if err != nil {
			return bad("server %q: %w", s, err)
		}
		if !slices.Contains(a.servers, hostPort) {
			a.servers = append(a.servers, hostPort)
		}
	}
	if len(a.servers) == 0 {
		return bad("no server")
	}
	if u.Username() != "" || u.Password() != "" {
		user, err1 := neturl.PathUnescape(u.Username())
		password, err2 := neturl.PathUnescape(u.Password())
		if err1 != nil || err2 != nil {
			return bad("user name or password: bad percent escape (a %% itself is written %%25)")
		}
		a.user, a.secret = user, user+":"+password
	}
	var err error
	if a.root, err = rootPath(u.ParamOr("group", defaultRoot)); err != nil {
		return bad("group=%q: %w", u.Param("group"), err)
	}
	for _, key := range []string{"session", "zk.session.expire"} {
		text := u.Param(key)
		if text == "" {
			continue
		}
		if a.session, err = url.Duration(text); err != nil || a.session < minSession {
			return bad("%s=%q is not a time of at least %d ms", key, text, minSession.Milliseconds())
		}
		break
	}
	a.source = "zookeeper://" + strings.Join(a.servers, ",")
	return a, nil
}

// serverAddress brings one server into the form host:port.
func serverAddress(s string) (string, error) {
	if strings.ContainsAny(s, "/ \t") {
		return "", fmt.Errorf("not host:port (a chroot is not supported, use group=)")
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.Trim(s, "[]"), defaultPort
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return "", fmt.Errorf("not host:port")
		}
	}
	if n, err := url.Int(port); host == "" || err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("not host:port")
	}
	return net.JoinHostPort(host, port), nil
}

// rootPath turns a group into the path that all services lie under.
func rootPath(group string) (string, error) {
	trimmed := strings.Trim(group, "/")
	if trimmed == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(trimmed, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", fmt.Errorf("not a ZooKeeper path")
		}
	}
	return "/" + trimmed, nil
}

// serviceDir is where everything about an interface lies, whatever the group and
// version.
func serviceDir(root, service string) string { return root + "/" + url.Escape(service) }

// nodePath is where a URL is registered, by its parameter category.
func nodePath(root string, u url.URL) (string, error) {
	service := u.Interface()
	if service == "" || service == "*" {
		return "", fmt.Errorf("register %s: it names no interface", u)
	}
	return serviceDir(root, service) + "/" + url.Escape(u.ParamOr("category", categoryNames[providers])) + "/" + u.Encode(), nil
}

// parents lists the nodes above path, the topmost first.
func parents(path string) []string {
	var all []string
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, path[:i])
		}
	}
	return all
}
