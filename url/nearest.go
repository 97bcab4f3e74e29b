package url

import "strings"

// Nearest returns the known key that is most likely meant by one that is not
// known, or "" when none is near. Case and punctuation do not count
// ("connectTimeout"), the attribute name is enough ("tag" for "dubbo.tag"), and of
// a method-level key only the part after the method is mended ("find.timout").
func Nearest(key string) string {
	if _, ok := Lookup(key); ok {
		return key
	}
	known := make([]string, len(table))
	for i, p := range table {
		known[i] = p.Key
	}
	if near := NearestOf(key, known); near != "" {
		return near
	}
	if method, rest, ok := strings.Cut(key, "."); ok {
		if near := NearestOf(rest, known); near != "" {
			if p, _ := Lookup(near); p.Level != LevelMethod {
				return near
			}
			return method + "." + near
		}
	}
	return ""
}

// Misspelt returns the parameter of a reference that a key can hardly be anything but a
// slip of, "" if it may be a parameter of somebody's own: one or two letters are wrong,
// not the first one, and none is a digit.
func Misspelt(key string) string {
	near := Nearest(key)
	if near == "" || near == key || strings.ContainsAny(key, "0123456789") {
		return ""
	}
	meant := near
	p, ok := Lookup(meant)
	if !ok {
		_, meant, _ = strings.Cut(near, ".")
		_, key, _ = strings.Cut(key, ".")
		p, _ = Lookup(meant)
	}
	if p.Ignored || p.Scope&ScopeReference == 0 {
		return ""
	}
	typed, right := plainKey(key), plainKey(meant)
	slips := 2
	switch {
	case len(right) < 5 || typed == "" || typed[0] != right[0]:
		return ""
	case len(right) == 5:
		slips = 1
	}
	if distance(typed, right, slips+1) > slips {
		return ""
	}
	return near
}

// NearestOf returns the one of known that is most likely meant by name, or "" when
// none is near: for names of load balancers, filters and the like.
func NearestOf(name string, known []string) string {
	name = plainKey(name)
	best, bestDistance := "", 1+min(3, len(name)/3)
	for _, k := range known {
		d := distance(name, plainKey(k), bestDistance)
		if _, last, ok := strings.Cut(k, "."); ok && d > 1 && plainKey(last) == name {
			d = 1 // worse than the name itself, better than another word
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to get from a to b; limit stands for all distances from there on.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
