package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// A cache file is JSON, a line for each list after a line that says what it is:
//
//	{"gofer":"registry cache","format":1,"lists":1}
//	{"interface":"com.example.OrderService","registry":"zookeeper://10.0.0.1:2181","root":"/dubbo","time":"2026-03-01T08:00:00Z","providers":["dubbo%3A%2F%2F…"]}
//
// People may edit it: each line stands for itself.
const (
	cacheKind    = "registry cache"
	cacheVersion = 1
	maxCacheFile = 64 << 20 // bytes: some 100,000 providers
	maxCacheHead = 100
)

// cacheHead is the first line.
type cacheHead struct {
	Gofer  string `json:"gofer"`
	Format int    `json:"format"`
	Lists  int    `json:"lists"` // lines that follow
}

// cacheLine is one list.
type cacheLine struct {
	Interface     string    `json:"interface"`
	Registry      string    `json:"registry"` // without secrets
	Root          string    `json:"root"`
	Path          string    `json:"path,omitempty"`
	Time          time.Time `json:"time"`      // when it was last known to hold
	Providers     []string  `json:"providers"` // as registered
	Configurators []string  `json:"configurators,omitempty"`
	Routers       []string  `json:"routers,omitempty"`
}

var (
	errForeign = errors.New("it is no cache file")
	errDamaged = errors.New("it is damaged")
	errJava    = errors.New("it is a file of Java's Dubbo") // and good
)

// encodeCache writes as many lines as fit into a file of the given size, and tells
// how many do not.
func encodeCache(lines []cacheLine, size int) (data []byte, left int) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	count := 0
	for _, l := range lines {
		before := body.Len()
		if err := enc.Encode(l); err != nil || body.Len()+maxCacheHead > size {
			body.Truncate(before) // smaller ones may fit
			left++
			continue
		}
		count++
	}
	head, _ := json.Marshal(cacheHead{cacheKind, cacheVersion, count})
	return append(append(head, '\n'), body.Bytes()...), left
}

// decodeCache reads the content of a file of this library, or of Java. It returns
// every line that is whole; the error is [errDamaged] when there are others,
// [errJava] for Java's, and [errForeign] when the file is something else. modified
// is when it was written.
func decodeCache(data []byte, modified time.Time) ([]cacheLine, error) {
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	var head cacheHead
	switch err := json.Unmarshal(first, &head); {
	case len(data) == 0:
		return nil, nil
	case err != nil || head.Gofer != cacheKind:
		if lines := decodeJavaCache(data, modified); len(lines) > 0 {
			return lines, errJava
		}
		return nil, errForeign
	case head.Format != cacheVersion:
		return nil, fmt.Errorf("%w of a known format, but of format %d", errForeign, head.Format)
	}
	var lines []cacheLine
	bad := 0
	for text := range bytes.Lines(rest) {
		var l cacheLine
		if json.Unmarshal(text, &l) != nil || l.Interface == "" || len(l.Providers) == 0 {
			bad++
			continue
		}
		lines = append(lines, l)
	}
	if all := max(head.Lists, len(lines)+bad); len(lines) < all {
		return lines, fmt.Errorf("%w: %d of %d lists cannot be read", errDamaged, all-len(lines), all)
	}
	return lines, nil
}

// snapshot parses the entries of a line, with the bad ones as rejected.
func (l cacheLine) snapshot() Snapshot {
	s := Snapshot{
		Configurators: l.Configurators, Routers: l.Routers, Source: l.Registry, Path: l.Path,
		Read: l.Time, Stale: true, Cached: true,
	}
	for _, raw := range l.Providers {
		parse := url.ParseEncoded
		if strings.Contains(raw, "://") {
			parse = url.Parse
		}
		u, err := parse(raw)
		switch {
		case err == nil:
			s.Providers = append(s.Providers, &Entry{Raw: raw, URL: u})
			continue
		case s.RejectedCount < maxReasons:
			s.Rejected = append(s.Rejected, Rejection{Raw: brief(url.Redact(raw)), Reason: err.Error()})
		}
		s.RejectedCount++
	}
	return s
}
