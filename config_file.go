package gofer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxConfigFile is the most bytes of a file: a larger one is no configuration.
const maxConfigFile = 1 << 20

func readConfigFile(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) { // the name is said already
			return "", path.Err
		}
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	switch {
	case err != nil:
		return "", errors.New("cannot be read")
	case len(data) > maxConfigFile:
		return "", fmt.Errorf("larger than %d bytes", maxConfigFile)
	}
	return string(data), nil
}

// parseConfigFile reads a file by the kind that its name tells.
func parseConfigFile(file, text string) (out []property, found findings) {
	source := SourceApplication
	var documents [][]property
	switch ext := strings.ToLower(filepath.Ext(file)); {
	case !utf8.ValidString(text):
		line := 1 + strings.Count(text[:invalidUTF8(text)], "\n")
		found.problem(property{origin: Origin{File: file, Line: line}}, "not UTF-8")
		return nil, found
	case ext == ".yml" || ext == ".yaml":
		documents, found = parseYAML([]byte(text))
	case ext == ".properties":
		documents, found = parseProperties(text)
		if strings.HasPrefix(filepath.Base(file), "dubbo") {
			source = SourceDubboProperties
		}
	default:
		found.problem(property{}, "unknown kind of file: the name must end in .yml, .yaml or .properties")
	}
	for _, d := range documents {
		d, f := foldLists(d)
		found.add(f)
		if p, ok := ofProfile(d); ok {
			found.warn(p, "left out: a document for profile %q; load it as a file of its own", p.value)
			continue
		}
		out = append(out, d...)
	}
	place := func(o *Origin) { o.Source, o.File = source, file }
	for i := range out {
		place(&out[i].origin)
	}
	for i := range found.problems {
		place(&found.problems[i].Origin)
	}
	for i := range found.warnings {
		place(&found.warnings[i].Origin)
	}
	return out, found
}

// ofProfile finds what makes a document one of a Spring profile.
func ofProfile(document []property) (property, bool) {
	for _, p := range document {
		switch relaxed(p.key) {
		case "springconfigactivateonprofile", "springprofiles":
			return p, true
		}
	}
	return property{}, false
}

func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return len(s)
}
