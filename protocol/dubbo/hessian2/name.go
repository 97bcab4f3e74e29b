package hessian2

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// JavaName is the Java name of a Go field without a tag: the first letter in lower
// case, initialisms as words. ID is id, UserID is userId, HTTPServer is httpServer,
// UserIDs is userIds; PriceCents is priceCents. dubbo-go-hessian2 lowers the first
// letter only (iD, userID), which no Java class has; decoding takes its names, too.
func JavaName(field string) string {
	if strings.ContainsRune(field, '_') || field == "SerialVersionUID" { // Java's own spelling
		return lowerFirst(field)
	}
	rs := []rune(lowerFirst(field))
	for i := 0; i < len(rs); {
		n := capitals(rs[i:], i == 0)
		for j := 1; j < n; j++ {
			rs[i+j] = unicode.ToLower(rs[i+j])
		}
		i += max(n, 1)
	}
	return string(rs)
}

// capitals returns how many letters at the beginning are one initialism: all capitals
// but the last one, if a word begins with that. The first letter of a name counts.
func capitals(rs []rune, first bool) int {
	n := 0
	for n < len(rs) && (unicode.IsUpper(rs[n]) || first && n == 0) {
		n++
	}
	rest := rs[n:]
	plural := len(rest) > 0 && rest[0] == 's' && (len(rest) == 1 || unicode.IsUpper(rest[1]))
	if n > 1 && len(rest) > 0 && unicode.IsLower(rest[0]) && !plural {
		n--
	}
	return n
}

// fieldNames returns the Java names of the fields of t that have no tag. Where two
// would have the same, one of them as an initialism, that keeps the name of
// dubbo-go-hessian2.
func fieldNames(t reflect.Type) func(field string) string {
	plain := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag := f.Tag.Get(tagKey); tag != "" {
			plain[tag] = true
		} else if f.IsExported() {
			plain[lowerFirst(f.Name)] = true
		}
	}
	return func(field string) string {
		old, name := lowerFirst(field), JavaName(field)
		if plain[name] {
			return old
		}
		return name
	}
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
