package registry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/protocol"
)

// observed makes the directory log into memory.
func observed(level zapcore.Level) (func(*DirectoryConfig), *observer.ObservedLogs) {
	core, logs := observer.New(level)
	return func(c *DirectoryConfig) { c.Logger = zap.New(core) }, logs
}

func TestDirectoryZeroConfig(t *testing.T) {
	d := NewDirectory(DirectoryConfig{})
	require.Equal(t, 0, d.List().Candidates.Len())
	assert.Equal(t, protocol.StageRegistered, d.List().Funnel.Emptied())
	assert.Equal(t, "no list has been read yet", d.List().Funnel.Note)

	d.Notify(newRegistered(t).snapshot("dubbo://192.0.2.10:20880/"))
	f := d.List().Funnel
	assert.Equal(t, 1, f.Registered)
	require.Len(t, f.Refused, 1)
	assert.Contains(t, f.Refused[0].Reason, "Refer is nil")
	d.Close()
	d.Close()
}

// TestOrder: nodes are ordered by address, whatever the order of the list.
func TestOrder(t *testing.T) {
	d, _ := newDirectory(t, "")
	r := newRegistered(t)
	a, b, c, e := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", ""), provided("192.0.2.12:20880", ""), provided("192.0.2.13:20880", "")
	for _, list := range [][]string{{c}, {c, a}, {b, c, a}, {e, c, b}, {a, b, c, e}, {e, a}, {b, c, a, e}} {
		d.Notify(r.snapshot(list...))
		assert.IsIncreasing(t, append(addresses(d.List()), "9"))
		assert.Len(t, d.List().Candidates.Nodes(), len(list))
	}
}

// TestUnchangedList: a list that brings nothing new publishes nothing.
func TestUnchangedList(t *testing.T) {
	published := 0
	d, _ := newDirectory(t, "", func(c *DirectoryConfig) {
		c.OnPublish = func(_, _ *protocol.Listing) { published++ }
	})
	r := newRegistered(t)
	a, b := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", "group=x")
	d.Notify(r.snapshot(a, b))
	l := d.List()
	d.Notify(r.snapshot(a, b))
	d.Notify(r.snapshot(b, a))
	d.Notify(newRegistered(t).snapshot(a, b)) // other pointers, same names
	assert.Same(t, l, d.List())
	assert.Equal(t, 1, published)
	d.Notify(Snapshot{Providers: append(r.list(a), nil), Read: time.Now()})
	assert.Equal(t, 1, d.List().Funnel.Registered)

	// A parameter that the reference sets itself, or that is the provider's own affair.
	d, _ = newDirectory(t, "timeout=3000")
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "timeout=1&threads=5")))
	l = d.List()
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "timeout=2&threads=9")))
	assert.Same(t, l, d.List())
}

// TestHooks: strategies prepare before a listing is in force, waiters look after.
func TestHooks(t *testing.T) {
	var d *Directory
	var events []string
	w := &wire{}
	d = NewDirectory(DirectoryConfig{
		Reference: reference(t, ""), Refer: w.refer,
		Prepare: func(old, next *protocol.Listing) {
			assert.Same(t, old, d.List())
			events = append(events, fmt.Sprintf("prepare %d to %d", old.Candidates.Len(), next.Candidates.Len()))
		},
		OnPublish: func(old, next *protocol.Listing) {
			assert.Same(t, next, d.List())
			events = append(events, fmt.Sprintf("publish %d to %d", old.Candidates.Len(), next.Candidates.Len()))
		},
	})
	l, replaced := d.Watch()
	assert.Same(t, d.List(), l)
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "")))
	<-replaced
	_, replaced = d.Watch()
	d.Close()
	<-replaced
	assert.Equal(t, []string{"prepare 0 to 1", "publish 0 to 1", "prepare 1 to 0", "publish 1 to 0"}, events)
	assert.Empty(t, w.open())
	d.Notify(newRegistered(t).snapshot(provided("192.0.2.10:20880", "")))
	assert.Equal(t, 1, w.made(), "a closed directory takes no list")
	assert.Equal(t, "the reference is closed", d.List().Funnel.Note)
}

// TestAllRefused: a list of which nothing can be used is an empty one that says why.
func TestAllRefused(t *testing.T) {
	logging, logs := observed(zapcore.WarnLevel)
	d, w := newDirectory(t, "version=1.0.0", logging)
	r := newRegistered(t)
	d.Notify(r.snapshot())
	d.Notify(r.snapshot(provided("192.0.2.10:20880", "version=1.0.0")))
	s := r.snapshot(provided("192.0.2.10:20880", "version=1.0.0&disabled=true"), provided("192.0.2.11:20880", "version=2.0.0"))
	s.Rejected = []Rejection{{Raw: "garbage", Reason: "no %3A%2F%2F in it"}}
	s.RejectedCount = 5
	d.Notify(s)
	l := d.List()
	require.Empty(t, l.Candidates.Nodes())
	require.Empty(t, w.open())
	assert.Equal(t, protocol.StageEnabled, l.Funnel.Emptied())
	assert.Equal(t, 7, l.Funnel.Registered)
	assert.ElementsMatch(t, []protocol.Refusal{
		{Provider: "4 entries", Reason: "cannot be parsed", Count: 4},
		{Provider: "192.0.2.10:20880", Reason: "disabled=true", Count: 1},
		{Provider: "192.0.2.11:20880", Reason: "version 2.0.0, reference wants 1.0.0", Count: 1},
		{Provider: "garbage", Reason: "no %3A%2F%2F in it", Count: 1},
	}, l.Funnel.Refused)
	d.Notify(r.snapshot())
	assert.Equal(t, 2, logs.FilterMessage("no provider").Len(), "once whenever it happens")
	assert.Equal(t, 2, logs.Len())
	assert.Equal(t, "zookeeper://192.0.2.1:2181", l.Funnel.Source)
	assert.Equal(t, "/dubbo/"+iface+"/providers", l.Funnel.Path)
}

// A list that is not believed yet is told of: what the registry lists, and since when.
func TestDoubtIsNoted(t *testing.T) {
	d, _ := newDirectory(t, "")
	r := newRegistered(t)
	a, b := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", "")
	d.Notify(r.snapshot(a, b))
	was := d.List().Candidates
	held := r.snapshot(a, b)
	held.Doubt = &Doubt{Listed: 0, Known: 2, Since: held.Read}
	d.Notify(held)
	want := "held: the registry lists 0 of 2 since " + clock(held.Read) + ", being checked"
	assert.Equal(t, want, d.List().Funnel.Note)
	assert.Equal(t, want, d.Funnel().Note)
	assert.Same(t, was, d.List().Candidates)
	held.Stale = true
	d.Notify(held)
	assert.Contains(t, d.List().Funnel.Note, want+"; stale")
	d.Notify(r.snapshot(a, b))
	assert.Empty(t, d.List().Funnel.Note)
}
