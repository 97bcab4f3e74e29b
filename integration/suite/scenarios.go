package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gofer-rpc/gofer/url"
)

// firstList: what is registered already, and that calls wait for it.
func firstList(p *play) {
	c := p.client(p.server.Addr())
	p.refused("before there is a provider", c, has(Text, "check=false"))
	r := p.refer(c, p.iface)
	p.sees("nobody", r)
	p.tree.Add(p.iface, 1)
	p.tree.Add(p.iface, 2, "weight", "50")
	p.sees("two providers", r, "1", "2(50)")
	p.sees("another client", p.refer(p.client(p.server.Addr()), p.iface), "1", "2(50)")
	p.note("a call", call[string](p.Context(), p.live(c), "ping()"), is(Value, `"pong"`))
}

// changes: added, taken out, registered again with other parameters.
func changes(p *play) {
	first := p.tree.Add(p.iface, 1)
	r := p.refer(p.client(p.server.Addr()), p.iface)
	p.sees("one", r, "1")
	second := p.tree.Add(p.iface, 2)
	p.sees("added", r, "1", "2")
	p.tree.Remove(first)
	p.sees("taken out", r, "2")
	heavier := p.tree.Add(p.iface, 2, "weight", "7")
	p.tree.Remove(second)
	p.sees("registered again with a weight", r, "2(7)")
	p.tree.Remove(heavier)
	p.sees("the last one taken out", r)
	for port := 10; port < 40; port++ {
		p.tree.Add(p.iface, port)
	}
	var all []string
	for port := 10; port < 40; port++ {
		all = append(all, fmt.Sprint(port))
	}
	p.sees("thirty at once", r, all...)
}

// oneBatch: nodes that are deleted and created in one transaction.
func oneBatch(p *play) {
	same := p.tree.Add(p.iface, 1)
	gone := p.tree.Add(p.iface, 2)
	r := p.refer(p.client(p.server.Addr()), p.iface)
	p.sees("two", r, "1", "2")
	batch := func(deleted, created string) {
		p.Helper()
		acl := zk.WorldACL(zk.PermAll)
		if _, err := p.tree.Conn.Multi(&zk.DeleteRequest{Path: deleted, Version: -1}, &zk.CreateRequest{Path: created, Acl: acl}); err != nil {
			p.Fatal(err)
		}
	}
	batch(same, same)
	p.sees("one deleted and made again", r, "1", "2")
	batch(gone, p.tree.entry(p.iface, 3))
	p.sees("one replaced", r, "1", "3")
	batch(p.tree.entry(p.iface, 3), p.tree.entry(p.iface, 3, "weight", "5"))
	p.sees("one changed", r, "1", "3(5)")
}

// malformed: entries that cannot be read disturb nobody.
func malformed(p *play) {
	p.tree.Add(p.iface, 1)
	for _, bad := range []string{"%zz", "dubbo%3A%2F%2Fhost%3Anoport%2Fx", "nonsense", "dubbo%3A%2F%2F%C3%28%3A1%2Fx"} {
		p.tree.Create(p.tree.Category(p.iface, "providers") + "/" + bad)
	}
	r := p.refer(p.client(p.server.Addr()), p.iface)
	p.sees("one among four that are none", r, "1")
	f := r.Snapshot().Funnel
	var reasons []string
	for _, why := range f.Refused {
		reasons = append(reasons, fmt.Sprintf("%d: %s", why.Count, normal(why.Reason)))
	}
	slices.Sort(reasons)
	p.note("why", Outcome{"registered": fmt.Sprint(f.Registered), "enabled": fmt.Sprint(f.Enabled), "refused": strings.Join(reasons, " | ")},
		is("registered", "5"), is("enabled", "1"))
	p.tree.Add(p.iface, 2)
	p.sees("another one", r, "1", "2")
}

// otherRoot: group names the root of everything.
func otherRoot(p *play) {
	p.tree.under("/prod").Add(p.iface, 1)
	p.sees("in the root", p.refer(p.client(p.server.Addr()+"?group=prod"), p.iface), "1")
	p.refused("in the usual root", p.client(p.server.Addr()), has(Text, "/dubbo/"))
	p.tree.under("").Add(p.iface, 2)
	p.sees("at the top", p.refer(p.client(p.server.Addr()+"?group=/"), p.iface), "2")
}

// directory: the node of the category, or of the interface, goes and comes back.
func directory(p *play) {
	p.tree.Add(p.iface, 1)
	p.tree.Add(p.iface, 2)
	r := p.refer(p.client(p.server.Addr()), p.iface)
	p.sees("two", r, "1", "2")
	p.tree.Remove(p.tree.Category(p.iface, "providers"))
	p.sees("directory deleted", r)
	p.tree.Add(p.iface, 3)
	p.sees("made again", r, "3")
	p.tree.Remove("/dubbo/" + p.iface)
	p.sees("interface deleted", r)
	p.tree.Add(p.iface, 4)
	p.sees("made again with its interface", r, "4")
	p.tree.Remove(p.tree.Category(p.iface, "providers"))
	p.tree.Add(p.iface, 5)
	p.sees("deleted and made again at once", r, "5")
}

// consumerEntry: a consumer shows in the registry, for as long as it is there.
func consumerEntry(p *play) {
	consumers := p.tree.Category(p.iface, "consumers")
	c := p.client(p.server.Addr())
	r, err := c.Refer(p.Context(), p.iface+"?check=false&version=1.0.0&group=g1&timeout=77")
	if err != nil {
		p.Fatal(err)
	}
	p.nodes("there", consumers, 1)
	p.note("what it says", p.entryOf(consumers), has(Value, "consumer /"+p.iface), has(Value, "application=gofer-test"),
		has(Value, "category=consumers"), has(Value, "group=g1"), has(Value, "version=1.0.0"), is("ephemeral", "true"))
	other, err := c.Refer(p.Context(), p.iface+"?check=false&version=1.0.0&group=g1&timeout=88")
	if err != nil {
		p.Fatal(err)
	}
	p.refer(c, p.iface)
	p.nodes("another consumer, and one that is the same", consumers, 2)
	if err := r.Close(); err != nil {
		p.Fatal(err)
	}
	p.nodes("a reference less", consumers, 2)
	if err := other.Close(); err != nil {
		p.Fatal(err)
	}
	p.nodes("the other one closed", consumers, 1)
	if err := c.Close(); err != nil {
		p.Fatal(err)
	}
	p.note("at once after Close", Outcome{"nodes": fmt.Sprint(len(p.tree.Children(consumers)))}, is("nodes", "0"))
}

// entryOf shows the only entry of a category.
func (p *play) entryOf(category string) Outcome {
	names := p.tree.Children(category)
	if len(names) != 1 {
		return Outcome{Value: fmt.Sprint(names)}
	}
	u, err := url.ParseEncoded(names[0])
	if err != nil {
		return Outcome{Value: err.Error()}
	}
	text := u.Protocol() + " /" + u.Path()
	for key, value := range u.Without("pid", "timestamp").Params() {
		text += " " + key + "=" + value
	}
	o := Outcome{Value: text}
	path := category + "/" + names[0]
	if data, stat, err := p.tree.Conn.Get(path); err == nil {
		o["data"], o["ephemeral"] = fmt.Sprintf("%q", data), fmt.Sprint(stat.EphemeralOwner != 0)
	}
	if acl, _, err := p.tree.Conn.GetACL(path); err == nil {
		o["acl"] = fmt.Sprint(acl)
	}
	return o
}

// credentials: a registry that belongs to a user.
func credentials(p *play) {
	const user = "ada:s3cret"
	owner := NewTree(p, p.server.Addr()).under("/" + strings.TrimPrefix(p.iface, "com.example."))
	owner.ownedBy(user)
	owner.Add(p.iface, 1)
	root := "?timeout=1500&group=" + strings.TrimPrefix(owner.root, "/")
	p.refused("nobody", p.client(p.server.Addr()+root), hides("s3cret"), has(Text, "auth"))
	p.refused("somebody else", p.client("ada:wrong@"+p.server.Addr()+root), hides("wrong"), has(Text, "auth"))

	c := p.client(user + "@" + p.server.Addr() + root)
	r := p.refer(c, p.iface)
	p.sees("the owner", r, "1")
	owner.Add(p.iface, 2)
	p.sees("a change", r, "1", "2")
	reader := *p
	reader.tree = owner
	consumers := owner.Category(p.iface, "consumers")
	reader.nodes("the consumer's entry", consumers, 1)
	reader.note("whose it is", reader.entryOf(consumers), has("acl", "digest ada:"))
	p.seen = reader.seen
	if _, _, err := p.tree.Conn.Children(consumers); err != zk.ErrNoAuth {
		p.Errorf("others can read it: %v", err)
	}
	if err := c.Close(); err != nil {
		p.Fatal(err)
	}
}
