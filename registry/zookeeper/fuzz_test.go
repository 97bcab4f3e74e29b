package zookeeper

import (
	"net"
	"strings"
	"testing"

	"github.com/gofer-rpc/gofer/url"
)

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"zookeeper://h", "zookeeper://u:p@h1:1,h2?backup=[::1]:2,x&group=/a/b&session=5000", "zookeeper://h:2181/x", "zookeeper://u:%zz@h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		a, err := parseAddress(u)
		if err != nil {
			return
		}
		if len(a.servers) == 0 || a.session < minSession {
			t.Fatalf("%+v", a)
		}
		for _, s := range a.servers {
			if _, _, err := net.SplitHostPort(s); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
		if a.root != "" && (a.root[0] != '/' || strings.HasSuffix(a.root, "/")) {
			t.Fatalf("root %q", a.root)
		}
	})
}
