package zktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Create makes a persistent node, open to everybody, and what is missing above it.
func (s *Server) Create(path, data string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' && s.tree[path[:i]] == nil {
			if err := s.apply(func(t *change) Code { return t.put(path[:i], "") }); err != nil {
				return err
			}
		}
	}
	return s.apply(func(t *change) Code { return t.put(path, data) })
}

func (t *change) put(path, data string) Code {
	_, _, code := t.create(path, []byte(data), openACL, 0)
	return code
}

// Set changes the data of a node.
func (s *Server) Set(path, data string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apply(func(t *change) Code {
		_, code := t.set(path, []byte(data), -1)
		return code
	})
}

// Delete removes a node and everything below it. Deleting an ephemeral node does
// not end its session.
func (s *Server) Delete(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree[path] == nil {
		return fmt.Errorf("%w: %s", NoNode, path)
	}
	for _, p := range s.tree.below(path) {
		if err := s.apply(func(t *change) Code { return t.delete(p, -1) }); err != nil {
			return err
		}
	}
	return nil
}

// Protect gives a node to one user, "name:password": nobody else may read it or
// change anything, except to see whether it exists.
func (s *Server) Protect(path, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.tree[path]
	if n == nil {
		return fmt.Errorf("%w: %s", NoNode, path)
	}
	n.acl = []ACL{{permAll, "digest", digest(user)}}
	n.stat.ACLVersion++
	return nil
}

// apply runs one change of the server itself.
func (s *Server) apply(f func(*change) Code) error {
	t := change{s: s}
	if code := f(&t); code != OK {
		return code
	}
	s.fire(t.events)
	return nil
}

// Node is one node as [Server.Node] and [Server.Dump] show it.
type Node struct {
	Path     string
	Data     string
	Stat     Stat
	ACL      []ACL
	Children []string // sorted
}

// Node returns one node; ok is false if it does not exist.
func (s *Server) Node(path string) (n Node, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.show(path)
}

func (s *Server) show(path string) (Node, bool) {
	n := s.tree[path]
	if n == nil {
		return Node{Path: path}, false
	}
	return Node{path, string(n.data), n.describe(), slices.Clone(n.acl), sortedKeys(n.children)}, true
}

// Dump returns all nodes sorted by path, without ZooKeeper's own.
func (s *Server) Dump() []Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Node
	for _, path := range slices.Sorted(maps.Keys(s.tree)) {
		if path != "/" && path != "/zookeeper" && !strings.HasPrefix(path, "/zookeeper/") {
			n, _ := s.show(path)
			all = append(all, n)
		}
	}
	return all
}

// Session is a session as [Server.Sessions] shows it.
type Session struct {
	ID         int64
	Timeout    time.Duration
	Connected  bool
	Ephemerals []string // paths, sorted
}

// Sessions returns all sessions, the oldest first.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Session
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		se := s.sessions[id]
		all = append(all, Session{id, se.timeout, se.conn != nil, sortedKeys(se.ephemerals)})
	}
	return all
}

// Requests returns how many requests of a kind came in, for one path or with ""
// for all.
func (s *Server) Requests(op Op, path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[request{op, path}]
}

// Watched returns how many connections watch the children of a node, or with a
// node that does not exist its creation.
func (s *Server) Watched(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.watches.children[path]), len(s.watches.node[path]))
}
