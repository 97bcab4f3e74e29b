package protocol

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The caller gets the attachments that he wants, without what observers have asked for,
// whichever and however many those are.
func TestLentAttachments(t *testing.T) {
	for _, c := range []struct {
		wants bool
		lend  []string
		want  map[string]any
	}{
		{true, nil, map[string]any{"a": 1, "b": 2, "c": 3}},
		{true, []string{""}, map[string]any{"a": 1, "b": 2, "c": 3}},
		{true, []string{"a", "", "a"}, map[string]any{"b": 2, "c": 3}},
		{true, []string{"", "a", "b", "a"}, map[string]any{"c": 3}},
		{false, []string{""}, nil},
		{false, []string{"a", "b"}, nil},
	} {
		r := Result{WantAttachments: c.wants}
		for range 2 { // the second attempt is no other
			for _, key := range c.lend {
				r.Lend(key)
				assert.True(t, r.WantAttachments)
			}
			if r.WantAttachments {
				r.Attachments = map[string]any{"a": 1, "b": 2, "c": 3}
			}
			r.Return()
			assert.Equal(t, c.want, r.Attachments, "%+v", c)
			assert.Equal(t, c.wants, r.WantAttachments, "%+v", c)
			assert.Zero(t, r.withheld)
		}
	}
}

// Two that ask for the same cost nothing.
func TestLendingIsFree(t *testing.T) {
	r := Result{WantAttachments: true}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		r.Lend("lb_adaptive")
		r.Lend("")
		r.Lend("lb_adaptive")
		r.Return()
	}))
}
