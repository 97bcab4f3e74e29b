package zookeeper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"
)

func TestEntriesSurviveChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e entries
		host := rapid.SampledFrom([]string{"a", "b", "c", "d", "%zz", "noscheme"})
		before := map[string]any{}
		for range rapid.IntRange(1, 6).Draw(t, "reads") {
			hosts := rapid.SliceOfDistinct(host, rapid.ID).Draw(t, "hosts")
			names := make([]string, len(hosts))
			rejected := 0
			for i, h := range hosts {
				names[i] = name(h)
				if h == "%zz" || h == "noscheme" {
					names[i], rejected = h, rejected+1
				}
			}
			slices.Sort(names)
			p := e.parse(names)
			assert.Equal(t, rejected, p.count)
			assert.Len(t, p.rejected, rejected)
			assert.Len(t, p.list, len(names)-rejected)
			now := map[string]any{}
			for _, entry := range p.list {
				now[entry.Raw] = entry
				assert.Contains(t, names, entry.Raw)
				if old, there := before[entry.Raw]; there {
					assert.Same(t, old, entry)
				}
			}
			for _, r := range p.fresh {
				assert.NotContains(t, before, r.Raw, "rejected anew")
			}
			for _, r := range p.rejected {
				now[r.Raw] = nil
			}
			before = now
		}
	})
}

func TestRejectionsAreBoundedAndRedacted(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("dubbo%%3A%%2F%%2Fu%%3Asecret%%40h%%3Ftoken%%3Dabc%%26x=%03d%%zz%s", i, strings.Repeat("y", 5000)))
	}
	log, logs := observer.New(zap.DebugLevel)
	var e entries
	p := e.parse(names)
	p.warn(zap.New(log), "/path")
	require.Equal(t, 100, p.count)
	require.Len(t, p.rejected, maxRejections)
	require.Equal(t, 1, logs.Len())
	line := fmt.Sprint(logs.All()[0].ContextMap())
	assert.Less(t, len(line), 5000)
	for _, text := range append([]string{line}, p.rejected[0].Raw, p.rejected[0].Reason) {
		assert.NotContains(t, text, "secret")
		assert.NotContains(t, text, "abc")
		assert.Less(t, len(text), 5000)
	}
	p = e.parse(names)
	p.warn(zap.New(log), "/path")
	assert.Equal(t, 100, p.count)
	assert.Equal(t, 1, logs.Len(), "warned once")
}

func BenchmarkParseOneChangeOfTenThousand(b *testing.B) {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = name(fmt.Sprintf("h%05d", i))
	}
	changed := slices.Clone(names)
	changed[5000] += "%26x%3D1"
	var e entries
	b.ReportAllocs()
	for b.Loop() {
		e.parse(names)
		e.parse(changed)
	}
}
