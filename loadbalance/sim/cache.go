package sim

// cache remembers the keys that were used last.
type cache struct {
	size  int
	place map[int32]int32 // index in used
	used  []cached        // linked from the latest to the oldest
	last  int32           // the latest
	first int32           // the oldest
}

type cached struct{ key, newer, older int32 }

func newCache(size int) *cache {
	return &cache{size: size, place: map[int32]int32{}, last: -1, first: -1}
}

// has reports whether the key is there, and changes nothing.
func (c *cache) has(key int32) bool {
	_, ok := c.place[key]
	return ok
}

// use reports whether the key is there. Afterwards it is, as the latest.
func (c *cache) use(key int32) bool {
	i, hit := c.place[key]
	switch {
	case hit:
		if i == c.last {
			return true
		}
		c.unlink(i)
	case len(c.used) < c.size:
		i = int32(len(c.used))
		c.used = append(c.used, cached{})
	default:
		i = c.first
		delete(c.place, c.used[i].key)
		c.unlink(i)
	}
	c.used[i] = cached{key: key, newer: -1, older: c.last}
	if c.last >= 0 {
		c.used[c.last].newer = i
	} else {
		c.first = i
	}
	c.last = i
	if !hit {
		c.place[key] = i
	}
	return hit
}

func (c *cache) unlink(i int32) {
	e := c.used[i]
	if e.newer >= 0 {
		c.used[e.newer].older = e.older
	} else {
		c.last = e.older
	}
	if e.older >= 0 {
		c.used[e.older].newer = e.newer
	} else {
		c.first = e.newer
	}
}
