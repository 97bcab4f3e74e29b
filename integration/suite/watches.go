package suite

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// watches: which events come of what, each once.
func watches(p *play) {
	conn, open := p.tree.Conn, zk.WorldACL(zk.PermAll)
	top := "/suite-watches"
	events := func(name string, act func() error, watched ...<-chan zk.Event) {
		p.Helper()
		if err := act(); err != nil {
			p.Fatalf("%s: %v", name, err)
		}
		// An answer comes behind the events of what was before.
		if _, _, err := conn.Exists("/"); err != nil {
			p.Fatal(err)
		}
		var all []string
		for _, w := range watched {
			select {
			case e := <-w:
				all = append(all, fmt.Sprintf("%s %s", e.Type, e.Path))
			case <-time.After(150 * time.Millisecond):
				all = append(all, "nothing")
			}
		}
		p.note(name, Outcome{"events": strings.Join(all, "; ")})
	}
	exists := func(path string) <-chan zk.Event {
		_, _, w, err := conn.ExistsW(path)
		if err != nil {
			p.Fatal(err)
		}
		return w
	}
	children := func(path string) <-chan zk.Event {
		_, _, w, err := conn.ChildrenW(path)
		if err != nil {
			p.Fatal(err)
		}
		return w
	}
	data := func(path string) <-chan zk.Event {
		_, _, w, err := conn.GetW(path)
		if err != nil {
			p.Fatal(err)
		}
		return w
	}
	create := func(path string) func() error {
		return func() error { _, err := conn.Create(path, nil, 0, open); return err }
	}
	remove := func(path string) func() error { return func() error { return conn.Delete(path, -1) } }
	set := func(path string) func() error {
		return func() error { _, err := conn.Set(path, []byte("x"), -1); return err }
	}
	both := func(first, second func() error) func() error {
		return func() error {
			if err := first(); err != nil {
				return err
			}
			return second()
		}
	}
	events("created", create(top), exists(top))
	events("a child", create(top+"/a"), children(top), exists(top), data(top))
	events("data", set(top), children(top), exists(top), data(top))
	events("two children are one event", both(create(top+"/b"), create(top+"/c")), children(top))
	events("a child of a child", create(top+"/a/x"), children(top), children(top+"/a"))
	events("data of a child", set(top+"/a"), children(top), data(top+"/a"))
	events("a child less", remove(top+"/b"), children(top), exists(top+"/b"))
	events("deleted", remove(top+"/c"), children(top+"/c"), exists(top+"/c"), data(top+"/c"), children(top))
	events("deleted and made again", both(remove(top+"/a/x"), create(top+"/a/x")), children(top+"/a"), exists(top+"/a/x"))
	events("a transaction", func() error {
		_, err := conn.Multi(&zk.DeleteRequest{Path: top + "/a/x", Version: -1}, &zk.DeleteRequest{Path: top + "/a", Version: -1},
			&zk.CreateRequest{Path: top + "/a", Acl: open})
		return err
	}, children(top+"/a"), exists(top+"/a"), children(top), exists(top+"/a/x"))
	events("a transaction that fails", func() error {
		_, err := conn.Multi(&zk.DeleteRequest{Path: top + "/a", Version: -1}, &zk.DeleteRequest{Path: top + "/none", Version: -1})
		if err == nil {
			return fmt.Errorf("it did not fail")
		}
		return nil
	}, children(top), exists(top+"/a"))
	events("an ephemeral node and its session", func() error {
		other := NewTree(p, p.server.Addr())
		if _, err := other.Conn.Create(top+"/e", nil, zk.FlagEphemeral, open); err != nil {
			return err
		}
		other.Conn.Close()
		return nil
	}, exists(top+"/e"), children(top))
}
