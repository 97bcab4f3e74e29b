package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// In each form the strategy is in force: every video has a provider of its own that
// answers most of its calls, which no strategy without hashing does.
func TestForms(t *testing.T) {
	row := regexp.MustCompile(`^  (video-\d) +[A-E]: (\d+)`)
	for _, form := range []string{"url", "yaml", "code"} {
		t.Run(form, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, run(t.Context(), &b, form, "."))
			assert.Contains(t, b.String(), "from "+form)
			videos, home := 0, 0
			for line := range strings.Lines(b.String()) {
				if m := row.FindStringSubmatch(line); m != nil {
					n, err := strconv.Atoi(m[2])
					require.NoError(t, err)
					videos++
					home += n
				}
			}
			assert.Equal(t, 8, videos)
			assert.Greater(t, home, 8*100/2, "calls at the provider that has most of a video:\n%s", b.String())
		})
	}
}

func TestUnknownForm(t *testing.T) {
	assert.ErrorContains(t, run(t.Context(), new(strings.Builder), "xml", "."), `"xml"`)
}
