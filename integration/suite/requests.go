package suite

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// requests: the answers of a ZooKeeper to its own protocol, right ones and refusals.
func requests(p *play) {
	conn, open, nobody := p.tree.Conn, zk.WorldACL(zk.PermAll), []zk.ACL{}
	top := "/suite-requests"
	node := func(name string) string { return top + "/" + name }
	note := func(name string, stat *zk.Stat, err error, more ...any) {
		o := Outcome{"error": fmt.Sprint(err)}
		if stat != nil && err == nil {
			o["stat"] = fmt.Sprintf("version %d, of children %d, of ACL %d, length %d, children %d, ephemeral %t, fresh %t", stat.Version,
				stat.Cversion, stat.Aversion, stat.DataLength, stat.NumChildren, stat.EphemeralOwner != 0, stat.Czxid == stat.Mzxid)
		}
		if len(more) > 0 {
			o[Value] = fmt.Sprint(more...)
		}
		p.note(name, o)
	}
	create := func(name, path string, data string, flags int32, acl []zk.ACL) {
		made, err := conn.Create(path, []byte(data), flags, acl)
		note(name, nil, err, made)
	}
	create("create below what is not there", node("a"), "", 0, open)
	create("create", top, "top", 0, open)
	create("create what is there", top, "", 0, open)
	create("create without ACL", node("x"), "", 0, nobody)
	create("create with another scheme", node("x"), "", 0, []zk.ACL{{Perms: zk.PermAll, Scheme: "nonsense", ID: "x"}})
	create("create with the ACL of a user that is none", node("x"), "", 0, zk.AuthACL(zk.PermAll))
	create("create a sequence", node("s-"), "", zk.FlagSequence, open)
	create("create its next node", node("s-"), "", zk.FlagSequence, open)
	create("create an ephemeral node", node("e"), "here", zk.FlagEphemeral, open)
	create("create below an ephemeral node", node("e/x"), "", 0, open)
	data, stat, err := conn.Get(node("e"))
	note("get an ephemeral node", stat, err, string(data))
	data, stat, err = conn.Get(top)
	note("get", stat, err, string(data))
	_, _, err = conn.Get(node("none"))
	note("get what is not there", nil, err)
	there, stat, err := conn.Exists(top)
	note("exists", stat, err, there)
	there, _, err = conn.Exists(node("none"))
	note("exists what is not there", nil, err, there)
	names, stat, err := conn.Children(top)
	note("children", stat, err, len(names))
	_, _, err = conn.Children(node("none"))
	note("children of what is not there", nil, err)
	stat, err = conn.Set(top, []byte("longer"), 0)
	note("set", stat, err)
	stat, err = conn.Set(top, nil, 0)
	note("set another version", stat, err)
	stat, err = conn.Set(node("none"), nil, -1)
	note("set what is not there", stat, err)
	note("delete what has children", nil, conn.Delete(top, -1))
	note("delete another version", nil, conn.Delete(node("e"), 3))
	note("delete what is not there", nil, conn.Delete(node("none"), -1))
	transactions(p, top, note)
	permissions(p, top, note)
	note("delete", nil, conn.Delete(node("e"), 0))
}

type noter func(name string, stat *zk.Stat, err error, more ...any)

// transactions: all requests of one, or none.
func transactions(p *play, top string, note noter) {
	conn, open := p.tree.Conn, zk.WorldACL(zk.PermAll)
	results := func(rs []zk.MultiResponse) string {
		var all []string
		for _, r := range rs {
			all = append(all, fmt.Sprintf("%s %v", r.String, r.Error))
		}
		return strings.Join(all, "; ")
	}
	rs, err := conn.Multi(&zk.CreateRequest{Path: top + "/m", Acl: open}, &zk.CheckVersionRequest{Path: top + "/m", Version: 0},
		&zk.SetDataRequest{Path: top + "/m", Data: []byte("1"), Version: 0}, &zk.CreateRequest{Path: top + "/m/n", Acl: open})
	note("a transaction", nil, err, results(rs))
	_, stat, err := conn.Get(top + "/m")
	note("what it made", stat, err)
	rs, err = conn.Multi(&zk.DeleteRequest{Path: top + "/m/n", Version: -1}, &zk.CheckVersionRequest{Path: top + "/m", Version: 7},
		&zk.DeleteRequest{Path: top + "/m", Version: -1})
	note("a transaction that fails", nil, err, results(rs))
	names, stat, err := conn.Children(top + "/m")
	note("what it left", stat, err, names)
	rs, err = conn.Multi(&zk.DeleteRequest{Path: top + "/m/n", Version: -1}, &zk.DeleteRequest{Path: top + "/m", Version: -1})
	note("deleted in one", nil, err, results(rs))
}

// permissions: nodes of a user.
func permissions(p *play, top string, note noter) {
	owner := NewTree(p, p.server.Addr())
	owner.ownedBy("bob:secret")
	path := top + "/bob"
	owner.Create(path)
	acl, stat, err := owner.Conn.GetACL(path)
	note("whose it is", stat, err, acl)
	conn := p.tree.Conn
	_, _, err = conn.Get(path)
	note("get another's", nil, err)
	_, _, err = conn.Children(path)
	note("children of another's", nil, err)
	there, _, err := conn.Exists(path)
	note("exists another's", nil, err, there)
	_, err = conn.Set(path, nil, -1)
	note("set another's", nil, err)
	_, err = conn.Create(path+"/x", nil, 0, zk.WorldACL(zk.PermAll))
	note("create below another's", nil, err)
	_, err = conn.SetACL(path, zk.WorldACL(zk.PermAll), -1)
	note("take another's", nil, err)
	stat, err = owner.Conn.SetACL(path, zk.WorldACL(zk.PermRead), -1)
	note("give it to everybody to read", stat, err)
	_, _, err = conn.Children(path)
	note("read it", nil, err)
	note("delete it all the same", nil, conn.Delete(path, -1)) // goes by the parent
	err = NewTree(p, p.server.Addr()).Conn.AddAuth("nonsense", []byte("x"))
	note("authenticate by another scheme", nil, err)
}
