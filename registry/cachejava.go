package registry

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// decodeJavaCache reads a cache file of Java's Dubbo (~/.dubbo/dubbo-registry-….cache):
// properties, a line for each service key with the full URLs of all categories,
// separated by blanks. The lines name no registry; their time is that of the file.
func decodeJavaCache(data []byte, modified time.Time) []cacheLine {
	var lines []cacheLine
	index := map[string]int{} // a line for each interface, whatever groups and versions
	for key, value := range javaProperties(data) {
		name := key[strings.LastIndexByte(key, '/')+1:]
		name, _, _ = strings.Cut(name, ":")
		for text := range strings.FieldsSeq(value) {
			u, err := url.Parse(text)
			if err != nil || name == "" || u.Interface() != name || u.Protocol() == "" || u.Protocol() == "empty" {
				continue
			}
			i, ok := index[name]
			if !ok {
				i = len(lines)
				index[name] = i
				lines = append(lines, cacheLine{Interface: name, Time: modified})
			}
			lines[i].addJava(u)
		}
	}
	return slices.DeleteFunc(lines, func(l cacheLine) bool { return len(l.Providers) == 0 })
}

// addJava adds a URL to the list of its category, by the name it is registered under.
func (l *cacheLine) addJava(u url.URL) {
	switch category := u.ParamOr("category", "providers"); {
	case u.Protocol() == "override" || category == "configurators":
		l.Configurators = append(l.Configurators, u.Encode())
	case u.Protocol() == "route" || category == "routers":
		l.Routers = append(l.Routers, u.Encode())
	case category == "providers" && u.Host() != "":
		l.Providers = append(l.Providers, u.Encode())
	}
}

const javaBlanks = " \t\f"

// javaProperties yields the pairs of a properties file, in its order. The encoding
// is ISO 8859-1, other characters are escaped.
func javaProperties(data []byte) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		var line strings.Builder // a logical line: one that ends in a backslash goes on
		for natural := range bytes.FieldsFuncSeq(data, func(r rune) bool { return r == '\n' || r == '\r' }) {
			natural = bytes.TrimLeft(natural, javaBlanks)
			if line.Len() == 0 && (len(natural) == 0 || natural[0] == '#' || natural[0] == '!') {
				continue
			}
			text := bytes.TrimRight(natural, `\`)
			slashes := len(natural) - len(text)
			for _, c := range natural[:len(natural)-slashes%2] {
				line.WriteRune(rune(c))
			}
			if slashes%2 == 1 {
				continue
			}
			key, value := cutJavaPair(line.String())
			line.Reset()
			if !yield(key, value) {
				return
			}
		}
		if line.Len() > 0 {
			yield(cutJavaPair(line.String()))
		}
	}
}

// cutJavaPair splits at the first '=', ':' or blank that is not escaped.
func cutJavaPair(line string) (key, value string) {
	end := 0
	for end < len(line) && !strings.ContainsRune("=:"+javaBlanks, rune(line[end])) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	key, value = line[:end], strings.TrimLeft(line[end:], javaBlanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], javaBlanks)
	}
	return unescapeJava(key), unescapeJava(value)
}

// unescapeJava undoes \t, \n, \r, \f and \uXXXX; before anything else the backslash
// just goes.
func unescapeJava(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 't', 'n', 'r', 'f':
			b.WriteByte("\t\n\r\f"[strings.IndexByte("tnrf", c)])
		case 'u':
			digits := s[i+1 : min(i+5, len(s))]
			n, err := strconv.ParseUint(digits, 16, 16)
			if err != nil || len(digits) < 4 {
				b.WriteByte(c)
				continue
			}
			b.WriteRune(rune(n))
			i += 4
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
