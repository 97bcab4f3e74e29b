//go:build !race

package url

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Reading a parameter allocates nothing, and work on a URL does not allocate per
// parameter: a directory of 10,000 providers is parsed, merged and compiled at once.
func TestAllocations(t *testing.T) {
	provider, reference := parsed(t, benchProvider), parsed(t, benchReference)
	merged := Merge(provider, reference)
	encoded := provider.Encode()
	for name, tc := range map[string]struct {
		most float64
		run  func()
	}{
		"Param":         {0, func() { _ = provider.Param("timeout") }},
		"absent Param":  {0, func() { _ = provider.ParamOr("nosuch", "x") }},
		"MethodParam":   {0, func() { _ = provider.MethodParam("find", "timeout") }},
		"Params":        {0, func() { provider.Params()(func(string, string) bool { return true }) }},
		"Equal":         {0, func() { _ = provider.Equal(merged) }},
		"StartTime":     {0, func() { _, _ = merged.StartTime() }},
		"Validate":      {0, func() { _ = Validate(provider) }},
		"Parse":         {2, func() { _, _ = Parse(benchProvider) }},
		"ParseEncoded":  {3, func() { _, _ = ParseEncoded(encoded) }},
		"Encode":        {3, func() { _ = provider.Encode() }},
		"Merge":         {2, func() { _ = Merge(provider, reference) }},
		"With":          {2, func() { _ = provider.With("timeout", "5", "weight", "7") }},
		"CompileMethod": {2, func() { _, _ = CompileMethod(merged, "find") }},
	} {
		assert.LessOrEqual(t, testing.AllocsPerRun(100, tc.run), tc.most, name)
	}
}
