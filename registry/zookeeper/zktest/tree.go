package zktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Stat describes a node. Times are milliseconds since 1970.
type Stat struct {
	Czxid, Mzxid, Pzxid               int64 // last change: creation, data, children
	Created, Modified                 int64
	Version, ChildVersion, ACLVersion int32
	EphemeralOwner                    int64 // a session, 0 for a persistent node
	DataLength, NumChildren           int
}

// node is one node of the tree.
type node struct {
	stat      Stat // without the lengths
	data      []byte
	acl       []ACL
	children  map[string]struct{}
	sequence  int32 // creations below it, for sequential names
	container bool
}

func (n *node) describe() Stat {
	s := n.stat
	s.DataLength, s.NumChildren = len(n.data), len(n.children)
	return s
}

// tree holds all nodes by path.
type tree map[string]*node

func newTree() tree {
	now := time.Now().UnixMilli()
	t := tree{}
	// Curator reads /zookeeper/config and fails on null data.
	for _, p := range []string{"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"} {
		t[p] = &node{stat: Stat{Created: now, Modified: now}, acl: openACL, children: map[string]struct{}{}, data: []byte{}}
		if p != "/" {
			dir, name := split(p)
			t[dir].children[name] = struct{}{}
		}
	}
	return t
}

// below lists path and everything under it, deepest first.
func (t tree) below(path string) []string {
	var all []string
	for p := range t {
		if p == path || strings.HasPrefix(p, strings.TrimSuffix(path, "/")+"/") {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := strings.Count(b, "/") - strings.Count(a, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return all
}

// split cuts a path into its parent and its name.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

func validPath(p string) bool {
	if p == "/" {
		return true
	}
	if p == "" || p[0] != '/' || strings.ContainsRune(p, 0) {
		return false
	}
	for part := range strings.SplitSeq(p[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func sortedKeys(m map[string]struct{}) []string { return slices.Sorted(maps.Keys(m)) }

// Flags of a creation.
const (
	flagEphemeral     = 1
	flagSequential    = 2
	flagEphemeralSeq  = 3
	flagContainer     = 4
	flagTTLSequential = 6
)

// change is a transaction: what it did can be undone, and its events are sent
// when it is done. The server's lock is held all the time.
type change struct {
	s      *Server
	c      *conn // nil: the server itself, which may do everything
	undo   []func()
	events []event
	begun  bool
}

// begin gives the transaction its number; all changes in one have the same.
func (t *change) begin() {
	if !t.begun {
		t.begun = true
		t.s.zxid++
	}
}

func (t *change) rollback() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
	t.undo, t.events = nil, nil
}

func (t *change) allowed(n *node, perm int32) bool { return t.c == nil || t.c.allowed(n.acl, perm) }

// touch notes a change of a node's children. The node keeps its map.
func (t *change) touch(parent *node) (restore func()) {
	old := parent.stat
	sequence := parent.sequence
	t.begin()
	parent.stat.ChildVersion++
	parent.stat.Pzxid = t.s.zxid
	return func() { parent.stat, parent.sequence = old, sequence }
}

func (t *change) create(path string, data []byte, acl []ACL, flags int32) (string, *node, Code) {
	sequential := flags == flagSequential || flags == flagEphemeralSeq || flags == flagTTLSequential
	if path == "/" || !validPath(path) && !(sequential && validPath(path+"0")) {
		return "", nil, BadArguments
	}
	dir, name := split(path)
	parent := t.s.tree[dir]
	if parent == nil {
		return "", nil, NoNode
	}
	if !t.allowed(parent, permCreate) {
		return "", nil, NoAuth
	}
	if parent.stat.EphemeralOwner != 0 {
		return "", nil, NoChildrenForEphemerals
	}
	acl, code := t.c.resolve(acl)
	if code != OK {
		return "", nil, code
	}
	if sequential {
		name = fmt.Sprintf("%s%010d", name, parent.sequence)
	}
	path = strings.TrimSuffix(dir, "/") + "/" + name
	if t.s.tree[path] != nil {
		return "", nil, NodeExists
	}
	restore := t.touch(parent)
	parent.sequence++
	now := time.Now().UnixMilli()
	n := &node{
		stat: Stat{Czxid: t.s.zxid, Mzxid: t.s.zxid, Pzxid: t.s.zxid, Created: now, Modified: now},
		data: data, acl: acl, children: map[string]struct{}{}, container: flags == flagContainer,
	}
	var owner *session
	if t.c != nil && (flags == flagEphemeral || flags == flagEphemeralSeq) {
		owner = t.c.session
		n.stat.EphemeralOwner = owner.id
		owner.ephemerals[path] = struct{}{}
	}
	parent.children[name] = struct{}{}
	t.s.tree[path] = n
	t.undo = append(t.undo, func() {
		delete(t.s.tree, path)
		delete(parent.children, name)
		if owner != nil {
			delete(owner.ephemerals, path)
		}
		restore()
	})
	t.events = append(t.events, event{created, path, acl}, event{childrenChanged, dir, parent.acl})
	return path, n, OK
}

func (t *change) delete(path string, version int32) Code {
	n := t.s.tree[path]
	if n == nil {
		return NoNode
	}
	dir, name := split(path)
	parent := t.s.tree[dir]
	if path == "/" || parent == nil {
		return BadArguments
	}
	if !t.allowed(parent, permDelete) {
		return NoAuth
	}
	if version >= 0 && version != n.stat.Version {
		return BadVersion
	}
	if len(n.children) > 0 {
		return NotEmpty
	}
	restore := t.touch(parent)
	delete(parent.children, name)
	delete(t.s.tree, path)
	owner := t.s.sessions[n.stat.EphemeralOwner]
	if owner != nil {
		delete(owner.ephemerals, path)
	}
	t.undo = append(t.undo, func() {
		t.s.tree[path] = n
		parent.children[name] = struct{}{}
		if owner != nil {
			owner.ephemerals[path] = struct{}{}
		}
		restore()
	})
	t.events = append(t.events, event{deleted, path, n.acl}, event{childrenChanged, dir, parent.acl})
	return OK
}

func (t *change) set(path string, data []byte, version int32) (*node, Code) {
	n := t.s.tree[path]
	if n == nil {
		return nil, NoNode
	}
	if !t.allowed(n, permWrite) {
		return nil, NoAuth
	}
	if version >= 0 && version != n.stat.Version {
		return nil, BadVersion
	}
	old := *n
	t.begin()
	n.data, n.stat.Mzxid, n.stat.Modified = data, t.s.zxid, time.Now().UnixMilli()
	n.stat.Version++
	t.undo = append(t.undo, func() { *n = old })
	t.events = append(t.events, event{dataChanged, path, n.acl})
	return n, OK
}
