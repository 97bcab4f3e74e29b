package suite

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gofer-rpc/gofer/url"
)

// Tree writes to a ZooKeeper as providers do. What fails ends the test.
type Tree struct {
	Conn *zk.Conn
	t    testing.TB
	root string
	acl  []zk.ACL
}

// quiet drops the ZooKeeper library's log lines.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// NewTree connects to a ZooKeeper, until the test ends. The entries are below
// /dubbo.
func NewTree(t testing.TB, address string) *Tree {
	t.Helper()
	conn, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return &Tree{Conn: conn, t: t, root: "/dubbo", acl: zk.WorldACL(zk.PermAll)}
}

// under is a tree below another root.
func (w *Tree) under(root string) *Tree {
	other := *w
	other.root = root
	return &other
}

// ownedBy authenticates as a user, "name:password", to whom alone belongs what is
// created from now on.
func (w *Tree) ownedBy(user string) {
	w.t.Helper()
	if err := w.Conn.AddAuth("digest", []byte(user)); err != nil {
		w.t.Fatal(err)
	}
	w.acl = zk.AuthACL(zk.PermAll)
}

// Create makes a node, and what is missing above it.
func (w *Tree) Create(path string) {
	w.t.Helper()
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if _, err := w.Conn.Create(path[:i], nil, 0, w.acl); err != nil && err != zk.ErrNodeExists {
			w.t.Fatalf("create %s: %v", path[:i], err)
		}
	}
}

// Category is the path of a category of an interface.
func (w *Tree) Category(iface, category string) string {
	return w.root + "/" + iface + "/" + category
}

// entry is the path of a provider at a port, with further parameters.
func (w *Tree) entry(iface string, port int, params ...string) string {
	u := url.New("dubbo", "127.0.0.1", port, iface, map[string]string{"interface": iface, "side": "provider", "dubbo": "2.0.2"})
	return w.Category(iface, "providers") + "/" + u.With(params...).Encode()
}

// Add registers a provider at a port where nobody needs to listen, and returns its
// path.
func (w *Tree) Add(iface string, port int, params ...string) string {
	w.t.Helper()
	path := w.entry(iface, port, params...)
	w.Create(path)
	return path
}

// Remove deletes a node and everything below it.
func (w *Tree) Remove(path string) {
	w.t.Helper()
	for _, name := range w.Children(path) {
		w.Remove(path + "/" + name)
	}
	if err := w.Conn.Delete(path, -1); err != nil {
		w.t.Fatalf("delete %s: %v", path, err)
	}
}

// Children are the names below a node; none when it cannot be read.
func (w *Tree) Children(path string) []string {
	names, _, err := w.Conn.Children(path)
	if err != nil {
		return nil
	}
	return names
}
