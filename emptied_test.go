package gofer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

const emptyAfter = 2 * time.Second // longer than the registry's confirmation

func (w *pair) directory() string { return "/dubbo/" + demo + "/providers" }

// left are the providers that the reference has, and whether they are kept.
func (w *pair) left() (addresses []string, kept bool) {
	s := w.reference.Snapshot()
	for _, p := range s.Providers {
		addresses = append(addresses, p.Address)
	}
	assert.Equal(w.t, s.Kept, s.Funnel.Kept > 0)
	if s.Kept {
		assert.Equal(w.t, len(addresses), s.Funnel.Kept)
		assert.Contains(w.t, s.Funnel.String(), "registered 0 and")
		assert.Contains(w.t, s.Funnel.Note, "none listed since")
		assert.Empty(w.t, s.Funnel.Emptied())
	}
	return addresses, s.Kept
}

// The registry's directory is deleted while the providers run: they are called as if
// nothing had happened, until each of them stops or dies, and are not dialled again.
// A list with a provider ends it.
func TestDirectoryDeleted(t *testing.T) {
	for _, profile := range []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo33} {
		t.Run(profile.String(), func(t *testing.T) {
			underLoad(t, profile, func(t *testing.T, w *pair) {
				a, b := w.a.Addr(), w.b.Addr()
				require.NoError(t, w.zk.Delete(w.directory()))
				<-time.After(15 * time.Second) // longer than a session
				left, kept := w.left()
				assert.Equal(t, []string{a, b}, left)
				assert.True(t, kept)
				w.serves(w.a, time.Second)
				w.serves(w.b, time.Second)

				assert.Empty(t, w.failures())
				w.a.Stop(t.Context())
				left, kept = w.left()
				assert.Equal(t, []string{b}, left)
				assert.True(t, kept)
				lost := w.failures()
				assert.LessOrEqual(t, len(lost), pairCallers, "those written in the moment in which it closed")
				for _, f := range lost {
					assert.ErrorIs(t, f.err, gofer.ErrNetwork)
				}

				accepted := w.b.Counters().Accepted
				w.b.Disconnect()
				<-time.After(emptyAfter)
				left, kept = w.left()
				assert.Empty(t, left)
				assert.False(t, kept)
				assert.Equal(t, accepted, w.b.Counters().Accepted, "it listens, but nobody lists it")
				for _, f := range w.failures() {
					if f.began.After(time.Now().Add(-emptyAfter)) {
						assert.ErrorIs(t, f.err, gofer.ErrNoProvider)
					}
				}

				require.NoError(t, w.b.Reregister())
				w.serves(w.b, time.Second)
				left, kept = w.left()
				assert.Equal(t, []string{b}, left)
				assert.False(t, kept)
			})
		})
	}
}

// Providers that are listed again are what they were, connections included.
func TestDirectoryReturns(t *testing.T) {
	underLoad(t, dubbotest.Dubbo33, func(t *testing.T, w *pair) {
		accepted := w.a.Counters().Accepted
		require.NoError(t, w.zk.Delete(w.directory()))
		<-time.After(emptyAfter)
		require.NoError(t, w.a.Reregister())
		<-time.After(emptyAfter)
		left, kept := w.left()
		assert.Equal(t, []string{w.a.Addr()}, left, "a list with a provider holds alone")
		assert.False(t, kept)
		require.NoError(t, w.b.Reregister())
		w.serves(w.b, time.Second)
		assert.Empty(t, w.failures())
		assert.Equal(t, accepted, w.a.Counters().Accepted)
		w.a.Disconnect() // it is connected anew again
		w.serves(w.a, time.Second)
	})
}

// The last providers stop one after the other: their registrations go first, and
// nobody is kept.
func TestAllStop(t *testing.T) {
	for _, profile := range []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33} {
		t.Run(profile.String(), func(t *testing.T) {
			underLoad(t, profile, func(t *testing.T, w *pair) {
				w.a.Stop(t.Context())
				w.b.Stop(t.Context())
				<-time.After(emptyAfter)
				left, kept := w.left()
				assert.Empty(t, left)
				assert.False(t, kept)
				w.failures()
				assert.ErrorIs(t, w.call(), gofer.ErrNoProvider)
			})
		})
	}
}

// With enable-empty-protection=false, at the registry or the reference, an empty list
// is believed, though not before it is confirmed.
func TestEmptyListBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPair(t, dubbotest.Dubbo33)
		registry := "zookeeper://" + w.zk.Addr() + "?file-cache=false"
		for _, c := range []struct {
			registry, reference string
			kept                bool
		}{
			{"", "", true},
			{"&enable-empty-protection=false", "", false},
			{"", "&enable-empty-protection=false", false},
			{"&enable-empty-protection=false", "&enable-empty-protection=true", true},
		} {
			client := newClient(t, gofer.WithRegistry(registry+c.registry), gofer.WithRegistryDialer(w.zk.Dial), gofer.WithDialer(dubbotest.Dialer(w.a, w.b)))
			r := refer(t, client, demo+"?retries=0"+c.reference)
			require.NoError(t, w.zk.Delete(w.directory()))
			<-time.After(time.Second)
			assert.Len(t, r.Snapshot().Providers, 2, "not confirmed")
			<-time.After(emptyAfter)
			s := r.Snapshot()
			assert.Equal(t, c.kept, s.Kept, "%+v", c)
			_, err := gofer.Call[string](context.Background(), r, "echo(java.lang.String)", "x")
			if c.kept {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, gofer.ErrNoProvider)
				assert.Empty(t, s.Providers)
			}
			again, err := client.Refer(context.Background(), demo+"?retries=0"+c.reference) // check=true
			if c.kept {
				require.NoError(t, err, "it is the same service")
				require.NoError(t, again.Close())
			} else {
				assert.ErrorIs(t, err, gofer.ErrNoProvider)
			}
			_, err = client.Refer(context.Background(), demo+"?retries=3"+c.reference)
			assert.ErrorIs(t, err, gofer.ErrNoProvider, "what is not listed is not found")
			require.NoError(t, w.a.Reregister())
			require.NoError(t, w.b.Reregister())
		}
	})
}
