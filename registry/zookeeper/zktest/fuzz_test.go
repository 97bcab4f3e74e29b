package zktest

import (
	"testing"
	"time"
)

// FuzzRequests: whatever a client sends, the server lives and its tree stays whole.
func FuzzRequests(f *testing.F) {
	var create encoder
	create.int32(1)
	create.int32(int32(OpCreate))
	create.string("/a")
	create.bytes([]byte("x"))
	create.int32(1)
	create.int32(permAll)
	create.string("world")
	create.string("anyone")
	create.int32(0)
	var multi encoder
	multi.int32(2)
	multi.int32(int32(OpMulti))
	multi.int32(int32(OpDelete))
	multi.bool(false)
	multi.int32(-1)
	multi.string("/a")
	multi.int32(-1)
	multi.int32(-1)
	multi.bool(true)
	multi.int32(-1)
	f.Add(create.b, multi.b)
	for op := range opNames {
		var e encoder
		e.int32(3)
		e.int32(int32(op))
		e.string("/zookeeper")
		e.bool(true)
		f.Add(create.b, e.b)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := &Server{
			tree: newTree(), sessions: map[int64]*session{}, conns: map[*conn]struct{}{}, watches: newWatches(),
			counts: map[request]int{}, zxid: 1, maxTimeout: time.Minute,
		}
		c := &conn{server: s, wake: make(chan struct{}, 1)}
		s.connect(c, first)
		if c.session == nil && !s.connect(c, make([]byte, 44)) {
			t.Fatal("no session")
		}
		s.handle(c, first)
		s.handle(c, second)
		for path, n := range s.tree {
			if path != "/" {
				dir, name := split(path)
				if _, there := s.tree[dir].children[name]; !there {
					t.Fatalf("%q is not a child of its parent", path)
				}
			}
			for name := range n.children {
				if child := path + "/" + name; s.tree[child] == nil && s.tree[child[1:]] == nil {
					t.Fatalf("%q has a child %q that does not exist", path, name)
				}
			}
		}
	})
}
