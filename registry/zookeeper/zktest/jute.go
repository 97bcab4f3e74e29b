package zktest

import "encoding/binary"

// decoder reads records of jute, ZooKeeper's encoding: big-endian numbers,
// strings and vectors behind a 32-bit length, -1 for null. After a short read all
// values are zero and bad is set.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) int32() int32 {
	if v := d.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if v := d.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (d *decoder) bool() bool {
	v := d.take(1)
	return v != nil && v[0] != 0
}

// bytes returns a copy, nil for null.
func (d *decoder) bytes() []byte {
	n := d.int32()
	if n < 0 {
		return nil
	}
	return append([]byte{}, d.take(int(n))...)
}

func (d *decoder) string() string { return string(d.bytes()) }

// count reads the length of a vector whose items take at least size bytes.
func (d *decoder) count(size int) int {
	n := int(d.int32())
	if n > len(d.b)/size {
		d.bad = true
		return 0
	}
	return max(0, n)
}

func (d *decoder) strings() []string {
	out := make([]string, d.count(4))
	for i := range out {
		out[i] = d.string()
	}
	return out
}

func (d *decoder) acl() []ACL {
	out := make([]ACL, d.count(12))
	for i := range out {
		out[i] = ACL{Perms: d.int32(), Scheme: d.string(), ID: d.string()}
	}
	return out
}

// encoder appends records.
type encoder struct{ b []byte }

func (e *encoder) int32(v int32) { e.b = binary.BigEndian.AppendUint32(e.b, uint32(v)) }
func (e *encoder) int64(v int64) { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)) }

func (e *encoder) bool(v bool) {
	var x byte
	if v {
		x = 1
	}
	e.b = append(e.b, x)
}

func (e *encoder) bytes(v []byte) {
	if v == nil {
		e.int32(-1)
		return
	}
	e.int32(int32(len(v)))
	e.b = append(e.b, v...)
}

func (e *encoder) string(v string) {
	e.int32(int32(len(v)))
	e.b = append(e.b, v...)
}

func (e *encoder) strings(v []string) {
	e.int32(int32(len(v)))
	for _, s := range v {
		e.string(s)
	}
}

func (e *encoder) stat(s Stat) {
	e.int64(s.Czxid)
	e.int64(s.Mzxid)
	e.int64(s.Created)
	e.int64(s.Modified)
	e.int32(s.Version)
	e.int32(s.ChildVersion)
	e.int32(s.ACLVersion)
	e.int64(s.EphemeralOwner)
	e.int32(int32(s.DataLength))
	e.int32(int32(s.NumChildren))
	e.int64(s.Pzxid)
}
