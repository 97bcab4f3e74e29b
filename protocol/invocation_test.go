package protocol

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// B069: what an attempt attaches is not sent with the next one.
func TestAttachmentsOfAnAttempt(t *testing.T) {
	var inv Invocation
	inv.Attach("trace", "abc")
	inv.Attach("tag", "blue")
	for attempt := 1; attempt <= 2; attempt++ {
		inv.StartAttempt(nil, time.Time{}, time.Time{})
		require.Equal(t, map[string]string{"trace": "abc", "tag": "blue"}, maps.Collect(inv.Attachments()), "attempt %d begins", attempt)
		inv.Attach("tag", "green")
		inv.Attach("token", strconv.Itoa(attempt))
		assert.Equal(t, "green", inv.Attachment("tag"))
		assert.Equal(t, map[string]string{"trace": "abc", "tag": "green", "token": strconv.Itoa(attempt)}, maps.Collect(inv.Attachments()))
		assert.Equal(t, 3, inv.AttachmentCount())
		inv.EndAttempt()
	}
	assert.Equal(t, map[string]string{"trace": "abc", "tag": "blue"}, maps.Collect(inv.Attachments()))
	assert.Equal(t, 2, inv.AttachmentCount())
	assert.Equal(t, 2, inv.Attempt)
}

// Against a pair of maps, with few and many keys.
func TestAttachmentsAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var inv Invocation
		call, attempt := map[string]string{}, map[string]string(nil)
		for i := range rapid.IntRange(0, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				inv.EndAttempt()
				attempt = nil
			case 1:
				if attempt == nil {
					inv.StartAttempt(nil, time.Time{}, time.Time{})
					attempt = map[string]string{}
				}
			default:
				key, value := rapid.StringMatching("[a-h]").Draw(rt, "key"), strconv.Itoa(i)
				inv.Attach(key, value)
				if attempt != nil {
					attempt[key] = value
				} else {
					call[key] = value
				}
			}
			want := maps.Clone(call)
			maps.Copy(want, attempt)
			n := 0
			for key, value := range inv.Attachments() {
				if n++; want[key] != value || inv.Attachment(key) != value {
					rt.Fatalf("%s=%s, %s when asked for, want %s", key, value, inv.Attachment(key), want[key])
				}
			}
			if n != len(want) || inv.AttachmentCount() != n {
				rt.Fatalf("%d attachments, %d counted, want %d", n, inv.AttachmentCount(), len(want))
			}
		}
	})
}

func TestNewRound(t *testing.T) {
	l := newLine(t, 0, 0, 0, 0, 0, 0)
	inv := l.call()
	inv.NewRound()
	assert.Zero(t, inv.TriedCount())
	for _, n := range l.nodes {
		inv.MarkTried(n)
	}
	last := l.nodes[len(l.nodes)-1]
	inv.NewRound()
	for _, n := range l.nodes {
		assert.Equal(t, n == last, inv.Tried(n), n.Address())
	}
	assert.Same(t, last, inv.LastTried())
	inv.StartCall()
	assert.Zero(t, inv.TriedCount())
	assert.Zero(t, inv.Attempt)
}

// A provider that is down is never allowed; one that is read-only only when asked.
func TestAllowsByState(t *testing.T) {
	l := newLine(t, 0)
	n, e := l.nodes[0], l.nodes[0].endpoint.(*idle)
	inv := l.call()
	for _, c := range []struct {
		state State
		relax Relax
		want  bool
	}{
		{Ready, 0, true}, {Ready, RelaxState, true},
		{ReadOnly, 0, false}, {ReadOnly, RelaxState, true},
		{Down, 0, false}, {Down, RelaxState, false},
	} {
		e.state.Store(int32(c.state))
		inv.SetRelax(c.relax)
		assert.Equal(t, c.want, inv.Allows(n), "%v relaxed by %d", c.state, c.relax)
	}
}
