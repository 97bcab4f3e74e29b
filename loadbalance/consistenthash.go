package loadbalance

import (
	"crypto/md5"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// consistentHash sends equal calls to the same node.
type consistentHash struct{ hasher }

// NewConsistentHash returns the strategy "consistenthash": calls with the same
// arguments go to the same provider, and when providers come or go only the calls
// of those move. Providers and calls are placed as Dubbo's consumers place them
// (2.6, 2.7 before 2.7.15, 3.2.12 and later), so that Java and Go consumers agree.
// Weights, warm-up and the calls under way do not matter, in Dubbo neither.
//
// Parameter "hash.arguments" says which arguments count, "hash.nodes" how many
// points a provider has on the ring: a quarter of it, rounded down, times four. The
// values are those that most providers have (F27). Where the list is so long that
// all points would take more than 128 MB there are fewer.
//
// A call that the owner may not serve (it is away, the call was tried there, its
// "actives" are in use) goes to the next provider on the ring, and comes home when
// the owner is back. Nothing is built for a retry, a second method or a list with
// the same addresses (F9, B081), a call never goes elsewhere because its key is
// asked for often (F7), and several providers on one address are one place (F8).
//
// The key is Dubbo's, with its weakness that ("ab", "c") and ("a", "bc") are one
// key, and that a method without arguments has one for all calls (F24): see
// [ConsistentHashBy].
//
// An error is returned where MD5 is not to be had, in FIPS 140-only mode.
func NewConsistentHash(cfg Config) (LoadBalance, error) { return ConsistentHashBy(nil)(cfg) }

// ConsistentHashBy returns a factory for the same strategy with a key of the
// application's own in place of the arguments, nil for the arguments: a tenant from
// an attachment, or a part of an argument. It is registered under a name of the
// application's own. key is called for every pick, concurrently.
func ConsistentHashBy(key func(*protocol.Invocation) string) Factory {
	return func(Config) (LoadBalance, error) {
		if err := hashUsable(); err != nil {
			return nil, err
		}
		return &consistentHash{hasher{key: key}}, nil
	}
}

// hashUsable tells why there can be no ring.
func hashUsable() (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the ring of Dubbo is made with MD5, which is not allowed in FIPS 140-only mode")
		}
	}()
	md5.Sum(nil)
	return nil
}

// Select implements [LoadBalance].
func (s *consistentHash) Select(c *protocol.Candidates, inv *protocol.Invocation) *protocol.Node {
	if c.Len() == 0 {
		return nil
	}
	w := s.walk(c, inv)
	return w.next(inv)
}

// hasher finds the place of a call on the ring of its list. Strategies on a ring
// have one.
type hasher struct {
	key func(*protocol.Invocation) string // nil: the arguments
}

// hashing is how the calls of one method are hashed.
type hashing struct {
	version   uint64 // of the list when the parameters were read
	arguments []int
	digests   int
	ring      any // ringOf, as the owner of the ring
}

// hashings holds the current hashing of a list and method.
type hashings struct {
	current atomic.Pointer[hashing]
	turn    sync.Mutex // held by who writes the next one
}

// Prepare implements [Preparer].
func (s *hasher) Prepare(c *protocol.Candidates, slot int) {
	if c.Len() > 0 {
		s.hashing(c, slot).on(c)
	}
}

// walk begins a walk round the ring at a call's position. The list must not be
// empty.
func (s *hasher) walk(c *protocol.Candidates, inv *protocol.Invocation) walk {
	h := s.hashing(c, inv.Method.Slot)
	return h.on(c).walk(s.position(h, inv))
}

func (s *hasher) position(h *hashing, inv *protocol.Invocation) uint32 {
	if s.key != nil {
		return hashText(s.key(inv))
	}
	return hashArguments(inv, h.arguments)
}

// hashing returns what is in force for a method.
func (s *hasher) hashing(c *protocol.Candidates, slot int) *hashing {
	e := c.State(s, slot, func(any) any {
		e := new(hashings)
		e.current.Store(readHashing(c, slot))
		return e
	}).(*hashings)
	h := e.current.Load()
	if h.version != c.Version() && e.turn.TryLock() {
		h = readHashing(c, slot)
		e.current.Store(h)
		e.turn.Unlock()
	}
	return h
}

// on returns the ring of a list. It is not kept with the hashing: that of a method
// that nobody calls any more would keep it.
func (h *hashing) on(c *protocol.Candidates) *ring {
	return c.State(h.ring, 0, func(before any) any {
		old, _ := before.(*ring)
		return newRing(c.Nodes(), h.digests, old)
	}).(*ring)
}

// readHashing reads the parameters that most nodes have.
func readHashing(c *protocol.Candidates, slot int) *hashing {
	h := &hashing{version: c.Version()} // first: what changes meanwhile is seen next time
	h.arguments = mostHave(c.Nodes(), slot, argumentsText).HashArguments
	h.digests = mostHave(c.Nodes(), slot, nodesText).HashNodes / pointsPerDigest
	h.ring = ringOf{h.digests}
	return h
}

func nodesText(b []byte, m *url.Method) []byte { return strconv.AppendInt(b, int64(m.HashNodes), 10) }

func argumentsText(b []byte, m *url.Method) []byte {
	for _, i := range m.HashArguments {
		b = append(strconv.AppendInt(b, int64(i), 10), ',')
	}
	return b
}

// mostHave returns the parameters of a method that are the same, by their text, for
// most nodes; of those for as many, the ones that come first in the list.
func mostHave(nodes []*protocol.Node, slot int, text func([]byte, *url.Method) []byte) *url.Method {
	type camp struct {
		m     *url.Method
		nodes int
	}
	var camps []camp
	byText := map[string]int{}
	var b []byte
	for _, n := range nodes {
		m := n.Method(slot)
		b = text(b[:0], m)
		i, known := byText[string(b)]
		if !known {
			i = len(camps)
			byText[string(b)] = i
			camps = append(camps, camp{m: m})
		}
		camps[i].nodes++
	}
	return slices.MaxFunc(camps, func(a, b camp) int { return a.nodes - b.nodes }).m
}
