package gofer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gofer-rpc/gofer/url"
)

// A parameter whose name has a dot is found by a name that is nearly it, in every place
// and whatever its first part means by itself.
func TestDottedTypos(t *testing.T) {
	for _, p := range url.Table() {
		if !strings.Contains(p.Key, ".") || p.Scope&url.ScopeReference == 0 || p.Ignored {
			continue
		}
		for _, typo := range []string{p.Key[:len(p.Key)-1], p.Key + "x"} {
			if _, known := referenceBean.find(strings.Split(typo, ".")); known {
				continue
			}
			want := fmt.Sprintf("unknown, did you mean %q?", p.Key)
			for _, line := range []string{
				"dubbo.references.orders." + typo + "=1",
				"dubbo.consumer." + typo + "=1",
				"dubbo.reference.a.B." + typo + "=1",
			} {
				_, err := loadAll(t, "application.properties", "dubbo.references.orders.interface=a.B\n"+line)
				assert.ErrorContains(t, err, want, line)
			}
			line, want := "dubbo.references.orders.methods.find."+typo+"=1", want
			if p.Level == url.LevelMethod {
				want = fmt.Sprintf("did you mean %q?", "find."+p.Key)
			}
			_, err := loadAll(t, "application.properties", "dubbo.references.orders.interface=a.B\n"+line)
			assert.ErrorContains(t, err, want, line)
		}
	}
	_, err := loadAll(t, "application.yml", "dubbo:\n  references:\n    orders:\n      interface: a.B\n      outlier:\n        failure: 3\n")
	assert.ErrorContains(t, err, `unknown, did you mean "outlier.failures"?`)
	_, err = loadAll(t, "application.yml", "dubbo:\n  references:\n    orders:\n      interface: a.B\n      outlier:\n        limit: 3\n")
	assert.ErrorContains(t, err, "outlier is one value, not several: write outlier: …; there are also outlier.failures, outlier.pause")
}
