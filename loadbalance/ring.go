package loadbalance

import (
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/gofer-rpc/gofer/protocol"
)

// ring is a hash ring of the nodes of one list, with the points that Dubbo gives
// them: a node is found from any 32-bit position as the one whose point is next
// clockwise. It is never changed; the ring of the next list takes over its points.
//
// Nodes of one address (of two groups, say) have the same points, so there is one
// place on the ring for them. Dubbo lets the last of them in the list have it and
// does not see the others; here these stand in when the last may not be called.
// Of different addresses that happen to have a point in common the last in the
// list has it, too. The order is that of gofer's list, by address, and so the same
// in every process; Dubbo's is that of a hash table, so such points, some 300 of
// 1,600,000, are the only ones where consumers can differ, and Java's do, too.
type ring struct {
	list    []*protocol.Node
	wanted  int // digests per place, of four points each
	digests int // and how many there are

	points []uint64 // position<<32 | place, ascending; losers of a collision follow the winner
	starts []int32  // by the first bits of a position: index of the first point from there on
	shift  uint     // 32 less the number of those bits

	// By place, in the list's order from the end: of equal positions the first wins.
	addresses []string
	nodes     []int32            // where in the list the last of an address is
	others    map[uint32][]int32 // and where those before it at the same address are
}

// ringOf is the owner, with [protocol.Candidates.State] and slot 0, of a list's
// ring: one for all methods and strategies that want so many points per address.
type ringOf struct{ digests int }

const (
	pointsPerDigest = 4
	// maxPoints bounds a ring to 128 MB. It takes more than ten thousand addresses with
	// 1,600 points each to get there; more of either have fewer points then.
	maxPoints = 1 << 24
)

// newRing returns the ring of nodes. What it has in common with the ring of the
// list before, nil for none, is not hashed again.
func newRing(nodes []*protocol.Node, digests int, before *ring) *ring {
	if before != nil && before.wanted == digests && slices.Equal(before.list, nodes) {
		return before
	}
	r := &ring{list: nodes, wanted: digests}
	r.place()
	r.digests = digestsFor(digests, len(r.nodes))
	if before == nil || before.digests != r.digests {
		before = new(ring)
	}
	moved, joined, same := r.compare(before)
	if same {
		r.points, r.starts, r.shift = before.points, before.starts, before.shift
		return r
	}
	fresh := r.hash(joined)
	r.points = merge(before.points, moved, fresh, len(r.nodes)*r.digests*pointsPerDigest)
	r.shift = shiftFor(len(r.points))
	r.starts = startsOf(r.points, r.shift)
	return r
}

// digestsFor returns how many digests each of so many places has: as many as wanted,
// one at least, and no more than fit.
func digestsFor(wanted, places int) int {
	return max(1, min(wanted, maxPoints/pointsPerDigest/max(1, places)))
}

// place gives every address a place.
func (r *ring) place() {
	places := make(map[string]uint32, len(r.list))
	r.addresses = make([]string, 0, len(r.list))
	r.nodes = make([]int32, 0, len(r.list))
	for i, n := range slices.Backward(r.list) {
		address := n.Address()
		p, taken := places[address]
		if !taken {
			places[address] = uint32(len(r.nodes))
			r.addresses = append(r.addresses, address)
			r.nodes = append(r.nodes, int32(i))
			continue
		}
		if r.others == nil {
			r.others = map[uint32][]int32{}
		}
		r.others[p] = append(r.others[p], int32(i))
	}
}

// gone is where a place has moved that is not there any more.
const gone = -1

// compare tells where the places of another ring are on this one, and which are
// new; same is true when there is no difference.
func (r *ring) compare(before *ring) (moved []int32, joined []uint32, same bool) {
	old := make(map[string]int, len(before.addresses))
	moved = make([]int32, len(before.addresses))
	for i, a := range before.addresses {
		old[a], moved[i] = i, gone
	}
	same = len(r.addresses) == len(before.addresses)
	for i, a := range r.addresses {
		was, there := old[a]
		if !there {
			joined = append(joined, uint32(i))
		} else {
			moved[was] = int32(i)
		}
		same = same && there && was == i
	}
	return moved, joined, same
}

// hash returns the points of places, ascending. They are Dubbo's: the MD5 of
// address and number, cut into four little-endian words.
func (r *ring) hash(places []uint32) []uint64 {
	points := make([]uint64, 0, len(places)*r.digests*pointsPerDigest)
	var text []byte
	for _, p := range places {
		text = append(text[:0], r.addresses[p]...)
		n := len(text)
		for i := range r.digests {
			text = strconv.AppendInt(text[:n], int64(i), 10)
			d := md5.Sum(text)
			for word := d[:]; len(word) > 0; word = word[4:] {
				points = append(points, uint64(binary.LittleEndian.Uint32(word))<<32|uint64(p))
			}
		}
	}
	return sortPoints(points)
}

// sortPoints sorts points by the first bits of the position, which are even enough
// to leave one or two points with the same, and then those.
func sortPoints(points []uint64) []uint64 {
	shift := shiftFor(len(points))
	next := startsOf(points, shift)
	sorted := make([]uint64, len(points))
	for _, p := range points {
		b := p >> 32 >> shift
		sorted[next[b]] = p
		next[b]++
	}
	start := int32(0)
	for _, end := range next[:len(next)-1] {
		if end-start > 1 {
			slices.Sort(sorted[start:end])
		}
		start = end
	}
	return sorted
}

// startsOf returns, by the first bits of a position, how many points come before
// those that begin with these bits.
func startsOf(points []uint64, shift uint) []int32 {
	starts := make([]int32, 1<<(32-shift)+1)
	for _, p := range points {
		starts[p>>32>>shift+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	return starts
}

// shiftFor returns how far to shift a position so that as many different numbers
// are left as there are points, or up to half as many.
func shiftFor(points int) uint { return 32 - uint(max(1, bits.Len(uint(points)))-1) }

// merge returns the points of old at the places that they have now, and the fresh
// ones, size in all.
func merge(old []uint64, moved []int32, fresh []uint64, size int) []uint64 {
	if len(old) == 0 {
		return fresh
	}
	out := make([]uint64, 0, size)
	for _, p := range old {
		place := moved[uint32(p)]
		if place == gone {
			continue
		}
		p = p&^math.MaxUint32 | uint64(place)
		for len(fresh) > 0 && fresh[0] < p {
			out, fresh = append(out, fresh[0]), fresh[1:]
		}
		out = append(out, p)
		for i := len(out) - 1; i > 0 && out[i] < out[i-1]; i-- { // same position, and the list has another order
			out[i], out[i-1] = out[i-1], out[i]
		}
	}
	return append(out, fresh...)
}

// find returns the index of the first point from a position on.
func (r *ring) find(position uint32) int {
	for i := int(r.starts[position>>r.shift]); i < len(r.points); i++ {
		if uint32(r.points[i]>>32) >= position {
			return i
		}
	}
	return 0
}

// allowed returns the index of the node at a place that a call may go to, -1 for none.
func (r *ring) allowed(place uint32, inv *protocol.Invocation) int {
	if i := r.nodes[place]; inv.Allows(r.list[i]) {
		return int(i)
	}
	if r.others == nil {
		return -1
	}
	for _, i := range r.others[place] {
		if inv.Allows(r.list[i]) {
			return int(i)
		}
	}
	return -1
}
