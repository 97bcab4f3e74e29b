package registry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// TestStaleNeverEmpties: whatever a registry that is away delivers, what is known stays.
func TestStaleNeverEmpties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := State{Address: "zookeeper://192.0.2.1:2181"}
		d, w := newDirectory(t, "", func(c *DirectoryConfig) { c.State = func() State { return state } })
		defer d.Close()
		assert.Equal(t, "zookeeper://192.0.2.1:2181", d.List().Funnel.Source)
		assert.Equal(t, "no list has been read yet", d.List().Funnel.Note)

		state.LastError = errors.New("dial tcp 192.0.2.1:2181: connection refused")
		d.Notify(Snapshot{Stale: true})
		assert.True(t, d.List().Stale)
		assert.Equal(t, "no list has been read yet; registry not connected: dial tcp 192.0.2.1:2181: connection refused", d.List().Funnel.Note)

		state = State{Connected: true, Since: time.Now()}
		r := newRegistered(t)
		a, b := provided("192.0.2.10:20880", ""), provided("192.0.2.11:20880", "")
		d.Notify(r.snapshot(a, b))
		both := []string{"192.0.2.10:20880", "192.0.2.11:20880"}
		require.Equal(t, both, addresses(d.List()))
		assert.False(t, d.List().Stale)
		assert.Empty(t, d.List().Funnel.Note)
		read := time.Now()

		time.Sleep(time.Minute)
		state = State{Since: time.Now(), LastError: errors.New("session expired")}
		assert.Contains(t, d.Funnel().Note, "registry not connected since", "as it is now")
		for _, s := range []Snapshot{
			{Stale: true},
			{Stale: true, Read: time.Now()},
			{Stale: true, Providers: r.list(a)},
			{Stale: true, Providers: r.list(a), Read: read},
			{Stale: true, Providers: r.list(a), Read: read.Add(-time.Hour)},
		} {
			d.Notify(s)
			require.Equal(t, both, addresses(d.List()))
			require.True(t, d.List().Stale)
		}
		assert.Equal(t, fmt.Sprintf("stale: read at %s; registry not connected since %s: session expired",
			read.Format(time.RFC3339), time.Now().Format(time.RFC3339)), d.List().Funnel.Note)
		assert.Equal(t, both, w.open())

		// A list that was read and went stale before it was delivered is news.
		d.Notify(Snapshot{Stale: true, Providers: r.list(b), Read: time.Now()})
		assert.Equal(t, []string{"192.0.2.11:20880"}, addresses(d.List()))

		time.Sleep(time.Minute)
		state = State{Connected: true, Since: time.Now()}
		d.Notify(r.snapshot())
		assert.Empty(t, d.List().Candidates.Nodes(), "a good list that is empty is believed")
		assert.False(t, d.List().Stale)
	})
}

// TestStaleFirst: a list from a cache is better than none.
func TestStaleFirst(t *testing.T) {
	d, _ := newDirectory(t, "")
	s := newRegistered(t).snapshot(provided("192.0.2.10:20880", ""))
	s.Stale, s.Read = true, time.Time{}
	d.Notify(s)
	assert.Equal(t, []string{"192.0.2.10:20880"}, addresses(d.List()))
	assert.Equal(t, "stale", d.List().Funnel.Note)
	assert.NoError(t, d.Ready(t.Context()))
}

func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newDirectory(t, "version=1.0.0", func(c *DirectoryConfig) {
			c.State = func() State { return State{LastError: errors.New("no route to host")} }
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d.Notify(Snapshot{Stale: true}) // no list
		err := d.Ready(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, iface+":1.0.0: no list has been read yet; registry not connected: no route to host")

		go func() {
			time.Sleep(time.Second)
			d.Notify(Snapshot{Read: time.Now()})
		}()
		require.NoError(t, d.Ready(t.Context()), "an empty list is a list")
		d.Close()
		require.ErrorIs(t, d.Ready(t.Context()), protocol.ErrClosed)
	})
}
