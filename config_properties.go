package gofer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// propertyBlanks separate key and value and are skipped before a line.
const propertyBlanks = " \t\f"

// parseProperties reads the text of a .properties file as java.util.Properties
// does, in UTF-8: comments with # or !, key and value separated by '=', ':' or
// blanks, lines continued after a backslash, \t \n \r \f \uXXXX; blanks at the end
// of a value stay. A line that begins with #--- or !--- starts another document, as
// in Spring's application.properties.
func parseProperties(text string) (documents [][]property, found findings) {
	var current []property
	lines := newLineReader(text)
	for {
		line, number, ok := lines.next()
		if !ok {
			return append(documents, current), found
		}
		if line == "#" {
			documents, current = append(documents, current), nil
			continue
		}
		key, value := splitProperty(line)
		p := property{origin: Origin{Line: number}}
		var err1, err2 error
		p.key, err1 = unescapeProperty(key)
		p.value, err2 = unescapeProperty(value)
		switch {
		case err1 != nil:
			p.key = ""
			found.problem(p, "key: %v", err1)
		case err2 != nil:
			found.problem(p, "%v", err2)
		default:
			current = append(current, p)
		}
	}
}

// lineReader joins the natural lines of a .properties file to logical ones.
type lineReader struct {
	rest   string
	number int // of the natural line read last
}

func newLineReader(text string) *lineReader {
	return &lineReader{rest: strings.TrimPrefix(text, "\ufeff")}
}

// next returns the next logical line without the blanks before it, and the number
// of its first natural line. Comments and blank lines are skipped; a separator of
// documents comes as "#", which no other line begins with.
func (r *lineReader) next() (line string, number int, ok bool) {
	for r.rest != "" {
		line = r.natural()
		if strings.HasPrefix(line, "#---") || strings.HasPrefix(line, "!---") {
			return "#", r.number, true
		}
		if line == "" || line[0] == '#' || line[0] == '!' || line == `\` && r.rest != "" {
			continue
		}
		number = r.number
		var joined strings.Builder
		for continues(line) {
			joined.WriteString(line[:len(line)-1])
			line = ""
			if r.rest != "" {
				line = r.natural()
			}
		}
		joined.WriteString(line)
		return joined.String(), number, true
	}
	return "", 0, false
}

// natural returns the next line up to \n, \r or \r\n.
func (r *lineReader) natural() string {
	r.number++
	line, rest := r.rest, ""
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line, rest = line[:i], r.rest[i+1:]
		if r.rest[i] == '\r' {
			rest = strings.TrimPrefix(rest, "\n")
		}
	}
	r.rest = rest
	return strings.TrimLeft(line, propertyBlanks)
}

// continues tells a line that ends in an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// splitProperty cuts a logical line at the first separator that is not escaped.
func splitProperty(line string) (key, value string) {
	end := 0
	for end < len(line) && !strings.ContainsRune("=: \t\f", rune(line[end])) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	key, value = line[:end], strings.TrimLeft(line[end:], propertyBlanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], propertyBlanks)
	}
	return key, value
}

// unescapeProperty undoes the escapes. Its errors show nothing of the text.
func unescapeProperty(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, n, err := unicodeEscapes(s[i-1:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += n - 2
		default:
			b.WriteByte(c) // the backslash goes
		}
	}
	return b.String(), nil
}

// unicodeEscapes reads \uXXXX, or two of them that are one character.
func unicodeEscapes(s string) (r rune, length int, err error) {
	const one = len(`\uXXXX`)
	if r, err = unicodeEscape(s); err != nil || !utf16.IsSurrogate(r) {
		return r, one, err
	}
	if low, err := unicodeEscape(s[one:]); err == nil {
		if r := utf16.DecodeRune(r, low); r != '\ufffd' {
			return r, 2 * one, nil
		}
	}
	return 0, 0, fmt.Errorf(`a \u escape is half a character: a second one must follow`)
}

func unicodeEscape(s string) (rune, error) {
	if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
		if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
			return rune(n), nil
		}
	}
	return 0, fmt.Errorf(`\u must be followed by four hexadecimal digits; a backslash is written \\`)
}
