package zktest

// The kinds of watch events.
const (
	created         = 1
	deleted         = 2
	dataChanged     = 3
	childrenChanged = 4
)

type event struct {
	kind int32
	path string
	acl  []ACL // of the node, when the event happened; nil for everybody
}

// watchSet holds who watches which path.
type watchSet map[string]map[*conn]struct{}

func (w watchSet) add(path string, c *conn) {
	if w[path] == nil {
		w[path] = map[*conn]struct{}{}
	}
	w[path][c] = struct{}{}
}

func (w watchSet) has(path string, c *conn) bool {
	_, there := w[path][c]
	return there
}

func (w watchSet) remove(path string, c *conn) {
	delete(w[path], c)
	if len(w[path]) == 0 {
		delete(w, path)
	}
}

// watches are those of all connections: one-shot ones for a node itself and for
// its children, and lasting ones for a node or everything below it.
type watches struct{ node, children, lasting, recursive watchSet }

func newWatches() watches { return watches{watchSet{}, watchSet{}, watchSet{}, watchSet{}} }

func (w *watches) all() []watchSet {
	return []watchSet{w.children, w.node, w.lasting, w.recursive}
}

// drop forgets a connection.
func (w *watches) drop(c *conn) {
	for _, set := range w.all() {
		for path := range set {
			set.remove(path, c)
		}
	}
}

// receivers takes those who are to be told of an event; their one-shot watches
// are spent.
func (w *watches) receivers(e event) map[*conn]struct{} {
	to := map[*conn]struct{}{}
	collect := func(set watchSet, path string) {
		for c := range set[path] {
			to[c] = struct{}{}
		}
	}
	spend := func(set watchSet) {
		collect(set, e.path)
		delete(set, e.path)
	}
	switch e.kind {
	case created, dataChanged:
		spend(w.node)
	case deleted:
		spend(w.node)
		spend(w.children)
	case childrenChanged:
		spend(w.children)
	}
	collect(w.lasting, e.path)
	if e.kind == childrenChanged { // recursive watches see the children themselves
		return to
	}
	for path := e.path; ; path, _ = split(path) {
		collect(w.recursive, path)
		if path == "/" {
			return to
		}
	}
}

// fire sends the events of committed changes to those who may read the node; the
// watches of others are spent as well. Events are queued before any later answer.
// The server's lock is held.
func (s *Server) fire(events []event) {
	for _, e := range events {
		for c := range s.watches.receivers(e) {
			switch {
			case e.acl != nil && !c.allowed(e.acl, permRead): // as of 3.8.4 and 3.9.2
			case s.dropEvents > 0:
				s.dropEvents--
			default:
				c.notify(e)
			}
		}
	}
}

// restore sets watches again that a client had on its last connection, or tells
// it what it missed since the transaction rel. The server's lock is held.
func (s *Server) restore(c *conn, rel int64, node, missing, children []string) {
	for _, p := range node {
		switch n := s.tree[p]; {
		case n == nil:
			c.notify(event{kind: deleted, path: p})
		case n.stat.Mzxid > rel:
			c.notify(event{kind: dataChanged, path: p})
		default:
			s.watches.node.add(p, c)
		}
	}
	for _, p := range missing {
		if s.tree[p] != nil {
			c.notify(event{kind: created, path: p})
		} else {
			s.watches.node.add(p, c)
		}
	}
	for _, p := range children {
		switch n := s.tree[p]; {
		case n == nil:
			c.notify(event{kind: deleted, path: p})
		case n.stat.Pzxid > rel:
			c.notify(event{kind: childrenChanged, path: p})
		default:
			s.watches.children.add(p, c)
		}
	}
}
