package loadbalance

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// hashVectors is what Java computes (testdata/consistenthash.json).
type hashVectors struct {
	Lists   map[string][]string
	Keys    []string
	KeyHash []uint32 `json:"key_hash"`
	Points  []struct {
		List       string
		Nodes      int
		Size       int
		Head, Tail [][2]uint32
		Digest     string
	}
	Picks []struct {
		List  string
		Nodes int
		Picks []int
	}
	ToKey []struct {
		Arguments string `json:"hash_arguments"`
		Args      []javaArgument
		Key       string
	}
}

func readHashVectors(tb testing.TB) *hashVectors {
	data, err := os.ReadFile("testdata/consistenthash.json")
	require.NoError(tb, err)
	v := new(hashVectors)
	require.NoError(tb, json.Unmarshal(data, v))
	return v
}

// nodeMaker makes the nodes of one reference.
type nodeMaker struct {
	table protocol.MethodTable
	made  int
}

// node makes one of that address, as it is: the vectors have some that are written
// as no URL writes them.
func (m *nodeMaker) node(address string) *protocol.Node {
	m.made++
	return protocol.NewNode(strconv.Itoa(m.made), url.New("dubbo", address, 0, "com.example.S", nil), noStart, &m.table, nowhere{}, nil)
}

func (m *nodeMaker) nodes(addresses ...string) []*protocol.Node {
	out := make([]*protocol.Node, len(addresses))
	for i, a := range addresses {
		out[i] = m.node(a)
	}
	return out
}

// owners lists the points of a ring as Java has them: one node per position.
func owners(r *ring) (positions []uint32, nodes []*protocol.Node) {
	for i, p := range r.points {
		if i > 0 && p>>32 == r.points[i-1]>>32 {
			continue
		}
		positions = append(positions, uint32(p>>32))
		nodes = append(nodes, r.list[r.nodes[uint32(p)]])
	}
	return positions, nodes
}

// Every point is where Java has it, and the same node's.
func TestVectorPoints(t *testing.T) {
	v := readHashVectors(t)
	require.NotEmpty(t, v.Points)
	for _, row := range v.Points {
		t.Run(fmt.Sprintf("%s/%d", row.List, row.Nodes), func(t *testing.T) {
			nodes := new(nodeMaker).nodes(v.Lists[row.List]...)
			positions, of := owners(newRing(nodes, row.Nodes/4, nil))
			require.Len(t, positions, row.Size)
			h := md5.New()
			points := make([][2]uint32, len(positions))
			for i, p := range positions {
				points[i] = [2]uint32{p, uint32(slices.Index(nodes, of[i]))}
				fmt.Fprintf(h, "%d:%d;", p, points[i][1])
			}
			assert.Equal(t, row.Head, points[:len(row.Head)])
			assert.Equal(t, row.Tail, points[len(points)-len(row.Tail):])
			assert.Equal(t, row.Digest, hex.EncodeToString(h.Sum(nil)))
		})
	}
}

// Java's ring as it is described: a sorted map in which the later node wins.
type treeRing struct {
	positions []uint32
	owner     map[uint32]*protocol.Node
}

func newTreeRing(nodes []*protocol.Node, digests int) *treeRing {
	r := &treeRing{owner: map[uint32]*protocol.Node{}}
	for _, n := range nodes {
		for i := range digests {
			d := md5.Sum([]byte(n.Address() + strconv.Itoa(i)))
			for h := range 4 {
				var p uint32
				for b := 3; b >= 0; b-- {
					p = p<<8 | uint32(d[4*h+b])
				}
				r.owner[p] = n
			}
		}
	}
	r.positions = slices.Sorted(maps.Keys(r.owner))
	return r
}

func (r *treeRing) of(position uint32) *protocol.Node {
	i, _ := slices.BinarySearch(r.positions, position)
	return r.owner[r.positions[i%len(r.positions)]]
}

// However lists follow each other, in whatever order, with several nodes on an
// address, nodes replaced and other numbers of points: the ring taken over from the
// list before is the one that is made anew, and Java's.
func TestRingOfTheNextList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m nodeMaker
		pool := make([]*protocol.Node, 12)
		for i := range pool {
			pool[i] = m.node(fmt.Sprintf("10.0.0.%d:%d", 1+i/2, 20880+i%3/2))
		}
		var r *ring
		for range rapid.IntRange(1, 5).Draw(t, "lists") {
			if i := rapid.IntRange(-6, len(pool)-1).Draw(t, "replaced"); i >= 0 {
				pool[i] = m.node(pool[i].Address())
			}
			list := rapid.Permutation(pool).Draw(t, "order")[:rapid.IntRange(1, len(pool)).Draw(t, "length")]
			if rapid.Bool().Draw(t, "sorted") {
				slices.SortFunc(list, func(a, b *protocol.Node) int { return slices.Index(pool, a) - slices.Index(pool, b) })
			}
			digests := rapid.SampledFrom([]int{1, 3, 40}).Draw(t, "digests")
			if r != nil && rapid.Bool().Draw(t, "same digests") {
				digests = r.digests
			}
			r = newRing(list, digests, r)
			fresh := newRing(list, digests, nil)
			require.Equal(t, fresh.points, r.points)
			require.Equal(t, fresh.starts, r.starts)
			require.Equal(t, fresh.nodes, r.nodes)
			require.Equal(t, fresh.others, r.others)
			java := newTreeRing(list, digests)
			positions, of := owners(r)
			require.Equal(t, java.positions, positions)
			for i, p := range positions {
				require.Same(t, java.owner[p], of[i])
				for _, q := range []uint32{p - 1, p, p + 1} {
					require.Same(t, java.of(q), r.list[r.nodes[uint32(r.points[r.find(q)])]])
				}
			}
		}
	})
}

// Positions that several addresses share belong to the last of them in the list,
// and to the next when that one goes. Real ones are rare, so the points are made up.
func TestCollidingPoints(t *testing.T) {
	point := func(position uint32, place int) uint64 { return uint64(position)<<32 | uint64(place) }
	old := []uint64{point(5, 0), point(5, 1), point(5, 3), point(9, 2)}
	assert.Equal(t, []uint64{point(5, 0), point(5, 2), point(9, 1)},
		merge(old, []int32{gone, 0, 1, 2}, nil, 3), "the first has gone")
	assert.Equal(t, []uint64{point(5, 0), point(5, 1), point(5, 2), point(5, 4), point(9, 3)},
		merge(old, []int32{4, 2, 3, 0}, []uint64{point(5, 1)}, 5), "another order, and one that has joined")
	assert.Equal(t, []uint64{point(1, 4), point(5, 0), point(5, 1), point(5, 3), point(9, 2), point(9, 4)},
		merge(old, []int32{0, 1, 2, 3}, []uint64{point(1, 4), point(9, 4)}, 6))
}

// A list of the same addresses has the ring of the list before.
func TestRingIsKept(t *testing.T) {
	var m nodeMaker
	nodes := m.nodes("10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1")
	r := newRing(nodes, 40, nil)
	assert.Same(t, r, newRing(slices.Clone(nodes), 40, r), "the same nodes")
	replaced := slices.Clone(nodes)
	replaced[1] = m.node("10.0.0.2:1")
	next := newRing(replaced, 40, r)
	assert.Same(t, &r.points[0], &next.points[0], "another node of the same address")
	assert.Same(t, replaced[1], next.list[next.nodes[1]])
}

// B085: no number of points per address breaks the ring, and none fills the memory.
func TestRingSizes(t *testing.T) {
	var m nodeMaker
	nodes := m.nodes("10.0.0.1:1", "10.0.0.2:1")
	for digests, points := range map[int]int{-1: 8, 0: 8, 1: 8, 40: 320} {
		r := newRing(nodes, digests, nil)
		assert.Len(t, r.points, points)
		for _, p := range []uint32{0, 1 << 31, 1<<32 - 1} {
			require.Less(t, r.find(p), points)
		}
	}
	assert.Equal(t, 40, digestsFor(40, 10_000))
	assert.Equal(t, 400, digestsFor(400, 10_000), "1,600 points each")
	for _, places := range []int{1, 255, 256, 257, 10_000, 1 << 22} {
		assert.LessOrEqual(t, places*pointsPerDigest*digestsFor(16384, places), maxPoints)
	}
	assert.Equal(t, 1, digestsFor(16384, 1<<23), "nobody is left out")
}

// A walk passes every address once, in the order of the ring, and ends.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m nodeMaker
		var list []*protocol.Node
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		for i := range n {
			list = append(list, m.node(fmt.Sprintf("10.0.0.%d:20880", 1+i*2/3))) // some share an address
		}
		r := newRing(list, rapid.SampledFrom([]int{1, 2, 40}).Draw(t, "digests"), nil)
		inv := &protocol.Invocation{Method: &protocol.Method{}}
		for _, n := range list {
			if rapid.IntRange(0, 2).Draw(t, "tried") == 0 {
				inv.MarkTried(n)
			}
		}
		position := rapid.Uint32().Draw(t, "position")
		var want []*protocol.Node
		var places []uint32
		start := r.find(position)
		for i := range r.points {
			p := uint32(r.points[(start+i)%len(r.points)])
			if slices.Contains(places, p) {
				continue
			}
			places = append(places, p)
			for _, i := range append([]int32{r.nodes[p]}, r.others[p]...) {
				n := r.list[i]
				if inv.Allows(n) {
					want = append(want, n)
					break
				}
			}
		}
		w := r.walk(position)
		var got []*protocol.Node
		for n := w.next(inv); n != nil; n = w.next(inv) {
			got = append(got, n)
		}
		require.Equal(t, want[:min(len(want), mostSteps)], got)
		require.Nil(t, w.next(inv), "it has ended")
	})
}
