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
