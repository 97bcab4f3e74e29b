package gofer

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// foldLists turns the lists of one document into what they mean:
//
//	filter[0]=a, filter[1]=b                     filter=a,b
//	methods[0].name=find, methods[0].retries=0   methods.find.retries=0
//	parameters[0].k=v                            parameters.k=v
func foldLists(document []property) (out []property, found findings) {
	names := map[string]string{} // of the elements of methods
	for _, p := range document {
		if at, last, ok := lastName(p.key); ok && last == "name" && isMethodsElement(at) {
			names[at] = p.value
		}
	}
	first := map[string]int{} // where in out the list begins
	for _, p := range document {
		at, rest := cutElement(p.key)
		switch list, _ := cutIndex(at); {
		case at == "":
			out = append(out, p)
		case rest == "":
			if i, ok := first[list]; ok {
				out[i].value += "," + p.value
				continue
			}
			first[list] = len(out)
			p.key = list
			out = append(out, p)
		case isMethodsElement(at) && rest == "name":
		case isMethodsElement(at) && names[at] == "":
			found.problem(p, "the method has no name: add %s.name", at)
		case isMethodsElement(at):
			p.key = list + "." + names[at] + "." + rest
			out = append(out, p)
		case isParameters(relaxed(lastOf(list))):
			p.key = list + "." + rest
			out = append(out, p)
		default: // binding knows whether it may be a list
			out = append(out, p)
		}
	}
	return out, found
}

var elementKey = regexp.MustCompile(`^(.*?\[\d{1,5}\])(?:\.?(.*))$`)

// cutElement splits a key after its first position in a list.
func cutElement(key string) (at, rest string) {
	if m := elementKey.FindStringSubmatch(key); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// cutIndex takes the position off the end.
func cutIndex(at string) (list, index string) {
	if i := strings.LastIndexByte(at, '['); i >= 0 {
		return at[:i], at[i:]
	}
	return at, ""
}

func isMethodsElement(at string) bool {
	list, index := cutIndex(at)
	return index != "" && relaxed(lastOf(list)) == "methods"
}

func lastOf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

func lastName(key string) (before, last string, ok bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// parameterList is Dubbo's form of several parameters in one text:
// [{k1:v1},{k2:v2}].
func parameterList(text string) (pairs [][2]string, err error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "[")
	inner, ok2 := strings.CutSuffix(inner, "]")
	if !ok || !ok2 {
		return nil, errParameterList
	}
	for rest := strings.TrimSpace(inner); rest != ""; {
		pair, after, ok := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
		key, value, ok2 := strings.Cut(pair, ":")
		if key = strings.TrimSpace(key); !ok || !ok2 || key == "" || rest[0] != '{' {
			return nil, errParameterList
		}
		pairs = append(pairs, [2]string{key, strings.TrimSpace(value)})
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(after), ","))
	}
	return slices.Clip(pairs), nil
}

var errParameterList = errors.New("not of the form [{key:value},{key:value}]; or write one key each, parameters.key=value")
