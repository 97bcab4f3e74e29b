package sim

import (
	"crypto/md5"
	"encoding/binary"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// javaRing is the ring of Dubbo's consistenthash.
type javaRing struct {
	points []uint32
	owner  []int32 // by point: a position in the list
	// Of the variant with bounded load, by address: how often it was chosen since the
	// ring was built (F7).
	chosen map[string]int64
	total  int64
}

// newJavaRing builds the ring of some addresses with so many points each.
func newJavaRing(addresses []string, nodes int) *javaRing {
	type point struct {
		at    uint32
		owner int32
	}
	var all []point
	for owner, address := range addresses {
		for i := range nodes / 4 {
			sum := md5.Sum([]byte(address + strconv.Itoa(i)))
			for h := 0; h < len(sum); h += 4 {
				all = append(all, point{binary.LittleEndian.Uint32(sum[h:]), int32(owner)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b point) int { return int(int64(a.at) - int64(b.at)) })
	r := &javaRing{chosen: map[string]int64{}}
	for _, p := range all {
		if n := len(r.points); n > 0 && r.points[n-1] == p.at {
			r.owner[n-1] = p.owner // the later provider has the point
			continue
		}
		r.points = append(r.points, p.at)
		r.owner = append(r.owner, p.owner)
	}
	return r
}

// hit returns the point of a key.
func (r *javaRing) hit(key string) int {
	sum := md5.Sum([]byte(key))
	at := binary.LittleEndian.Uint32(sum[:])
	i := sort.Search(len(r.points), func(i int) bool { return r.points[i] >= at })
	if i == len(r.points) {
		return 0
	}
	return i
}

// bounded is the choice of 2.7.15 … 2.7.23: on from the hit past everybody who was
// chosen one and a half times as often as the mean, ever. So one key goes to many
// providers (F7). The walk ends after one round; Java's does not (F8).
func (r *javaRing) bounded(key string, addresses []string) int32 {
	limit := float64(r.total) / float64(len(addresses)) * 1.5
	i := r.hit(key)
	for range r.points {
		n, known := r.chosen[addresses[r.owner[i]]]
		if !known || float64(n) < limit {
			break
		}
		i = (i + 1) % len(r.points)
	}
	r.chosen[addresses[r.owner[i]]]++
	r.total++
	return r.owner[i]
}

// javaConsistentHash is "consistenthash" of Dubbo, with bounded load as that of
// 2.7.23. Its parameters are those of the first provider.
type javaConsistentHash struct {
	bound     bool
	ring      *javaRing
	addresses []string
	seen      int
}

func newJavaConsistentHash(*world) javaRule { return &javaConsistentHash{seen: -1} }
func newJavaBoundedHash(*world) javaRule    { return &javaConsistentHash{seen: -1, bound: true} }

func (b *javaConsistentHash) choose(j *java, r *request) int {
	if b.seen != j.seen {
		b.seen, b.addresses = j.seen, nil
		for i := range j.list {
			b.addresses = append(b.addresses, j.at(i).address)
		}
		b.ring = newJavaRing(b.addresses, j.at(0).nodes)
	}
	key := ""
	if r.key >= 0 {
		key = strings.Repeat(keyText(r.key), j.at(0).hashed)
	}
	if b.bound {
		return int(b.ring.bounded(key, b.addresses))
	}
	return int(b.ring.owner[b.ring.hit(key)])
}
