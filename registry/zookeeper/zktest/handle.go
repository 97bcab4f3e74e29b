package zktest

import "strings"

// handle carries out one request and queues the answer. It returns false when
// the connection has to end.
func (s *Server) handle(c *conn, frame []byte) bool {
	d := &decoder{b: frame}
	xid, op := d.int32(), Op(d.int32())
	s.mu.Lock()
	defer s.mu.Unlock()
	se := c.session
	if d.bad || se == nil || s.sessions[se.id] != se {
		return false
	}
	path := peekPath(op, d)
	s.counts[request{op, ""}]++
	if path != "" {
		s.counts[request{op, path}]++
	}
	fault := s.takeFault(op, path)
	if fault == CutBefore {
		return false
	}
	se.touch()
	var body encoder
	t := change{s: s, c: c}
	code := fault
	if fault == OK || fault == CutAfter {
		code = t.do(op, d, &body)
	}
	if d.bad {
		t.rollback()
		return false
	}
	if op == OpCloseSession {
		s.end(se)
	}
	s.fire(t.events)
	if fault == CutAfter {
		return false
	}
	var w encoder
	w.int32(xid)
	if op == OpAuth {
		w.int64(0) // as a real server
	} else {
		w.int64(s.zxid)
	}
	w.int32(int32(code))
	if code == OK {
		w.b = append(w.b, body.b...)
	}
	c.send(w.b)
	return op != OpCloseSession && code != AuthFailed
}

// peekPath returns the path a request is about, "" if it has none.
func peekPath(op Op, d *decoder) string {
	switch op {
	case OpPing, OpMulti, OpAuth, OpSetWatches, OpSetWatches2, OpCloseSession:
		return ""
	}
	ahead := *d
	return ahead.string()
}

// do carries out one request, of those in a multi too. What it writes to w counts
// only if it returns OK.
func (t *change) do(op Op, d *decoder, w *encoder) Code {
	s := t.s
	switch op {
	case OpPing, OpCloseSession:
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		return t.doCreate(op, d, w)
	case OpDelete:
		return t.delete(d.string(), d.int32())
	case OpSetData:
		n, code := t.set(d.string(), d.bytes(), d.int32())
		if code != OK {
			return code
		}
		w.stat(n.describe())
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		return t.doRead(op, d, w)
	case OpGetACL, OpSetACL:
		return t.doACL(op, d, w)
	case OpSync:
		w.string(d.string())
	case OpCheck:
		n, version := s.tree[d.string()], d.int32()
		if n == nil {
			return NoNode
		}
		if version >= 0 && version != n.stat.Version {
			return BadVersion
		}
	case OpMulti:
		t.doMulti(d, w)
	case OpAuth:
		d.int32()
		return t.c.authenticate(d.string(), d.string())
	case OpSetWatches, OpSetWatches2, OpAddWatch, OpCheckWatches, OpRemoveWatches:
		return t.doWatches(op, d, w)
	case OpGetEphemerals:
		prefix := d.string()
		var out []string
		for _, p := range sortedKeys(t.c.session.ephemerals) {
			if strings.HasPrefix(p, prefix) {
				out = append(out, p)
			}
		}
		w.strings(out)
	case OpCountChildren:
		path := d.string()
		if s.tree[path] == nil {
			return NoNode
		}
		w.int32(int32(len(s.tree.below(path)) - 1))
	default:
		return Unimplemented
	}
	return OK
}

func (t *change) doCreate(op Op, d *decoder, w *encoder) Code {
	path, data, acl, flags := d.string(), d.bytes(), d.acl(), d.int32()
	if op == OpCreateTTL {
		d.int64()
	}
	if d.bad {
		return BadArguments
	}
	path, n, code := t.create(path, data, acl, flags)
	if code != OK {
		return code
	}
	w.string(path)
	if op != OpCreate {
		w.stat(n.describe())
	}
	return OK
}

func (t *change) doRead(op Op, d *decoder, w *encoder) Code {
	path, watch := d.string(), d.bool()
	n := t.s.tree[path]
	switch {
	case op == OpExists: // needs no permission; a missing node can be watched
	case n == nil:
		return NoNode
	case !t.allowed(n, permRead):
		return NoAuth
	}
	children := op == OpGetChildren || op == OpGetChildren2
	switch {
	case watch && children:
		t.s.watches.children.add(path, t.c)
	case watch:
		t.s.watches.node.add(path, t.c)
	}
	if n == nil {
		return NoNode
	}
	switch {
	case children:
		w.strings(sortedKeys(n.children))
	case op == OpGetData:
		w.bytes(n.data)
	}
	if op != OpGetChildren {
		w.stat(n.describe())
	}
	return OK
}

func (t *change) doACL(op Op, d *decoder, w *encoder) Code {
	n := t.s.tree[d.string()]
	if n == nil {
		return NoNode
	}
	if op == OpGetACL {
		w.int32(int32(len(n.acl)))
		for _, a := range n.acl {
			w.int32(a.Perms)
			w.string(a.Scheme)
			w.string(a.ID)
		}
		w.stat(n.describe())
		return OK
	}
	acl, version := d.acl(), d.int32()
	if !t.allowed(n, permAdmin) {
		return NoAuth
	}
	if version >= 0 && version != n.stat.ACLVersion {
		return BadVersion
	}
	acl, code := t.c.resolve(acl)
	if code != OK {
		return code
	}
	old := *n
	t.undo = append(t.undo, func() { *n = old })
	t.begin()
	n.acl = acl
	n.stat.ACLVersion++
	w.stat(n.describe())
	return OK
}

func (t *change) doWatches(op Op, d *decoder, w *encoder) Code {
	ws := &t.s.watches
	switch op {
	case OpSetWatches, OpSetWatches2:
		t.s.restore(t.c, d.int64(), d.strings(), d.strings(), d.strings())
		if op == OpSetWatches2 {
			for _, p := range d.strings() {
				ws.lasting.add(p, t.c)
			}
			for _, p := range d.strings() {
				ws.recursive.add(p, t.c)
			}
		}
	case OpAddWatch:
		path, mode := d.string(), d.int32()
		if mode == 0 {
			ws.lasting.add(path, t.c)
		} else {
			ws.recursive.add(path, t.c)
		}
		w.int32(0)
	default: // types: 1 children, 2 node, 3 any; lasting ones are both
		path, kind := d.string(), d.int32()
		code := NoWatcher
		for i, set := range ws.all() {
			if matches := kind == 3 || i > 1 || int(kind) == i+1; matches && set.has(path, t.c) {
				code = OK
				if op == OpRemoveWatches {
					set.remove(path, t.c)
				}
			}
		}
		return code
	}
	return OK
}

// doMulti carries out several requests or none. The answer is OK either way; it
// holds a result for each: its own, or 0 before the failed one, its code, and
// runtime inconsistency after it.
func (t *change) doMulti(d *decoder, w *encoder) {
	type result struct {
		op   Op
		code Code
		body []byte
	}
	var results []result
	failed := false
	zxid := t.s.zxid
	for !d.bad {
		op, done := Op(d.int32()), d.bool()
		d.int32()
		if done || d.bad {
			break
		}
		var body encoder
		sub := t
		if failed { // still has to be read
			sub = &change{s: t.s, c: t.c}
		}
		r := result{op: op, code: sub.do(op, d, &body), body: body.b}
		if failed {
			sub.rollback()
			r.code = RuntimeInconsistency
		}
		failed = failed || r.code != OK
		results = append(results, r)
	}
	if failed || d.bad {
		t.rollback()
		t.s.zxid = zxid
	}
	for _, r := range results {
		if failed {
			w.int32(-1)
			w.bool(false)
			w.int32(int32(r.code))
			w.int32(int32(r.code))
			continue
		}
		w.int32(int32(r.op))
		w.bool(false)
		w.int32(0)
		w.b = append(w.b, r.body...)
	}
	w.int32(-1)
	w.bool(true)
	w.int32(-1)
}
