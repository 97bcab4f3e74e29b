package zookeeper

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

func TestSubscribeRefusesWhatCannotWork(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "")
		_, err := r.Subscribe(parse(t, "consumer://h"), &recorder{})
		require.ErrorContains(t, err, "names no interface")
		_, err = r.Subscribe(parse(t, "consumer://h/*"), &recorder{})
		require.ErrorContains(t, err, "names no interface")
		_, err = r.Subscribe(parse(t, "consumer://h/"+iface), nil)
		require.ErrorContains(t, err, "no listener")
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		_, err = r.Subscribe(parse(t, "consumer://h/"+iface), &recorder{})
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, r.Register(parse(t, "consumer://h/"+iface)), ErrClosed)
		require.ErrorContains(t, r.Unregister(parse(t, "consumer://h/"+iface)), "not registered")
	})
}

// After Close no listener is called, and nothing is left.
func TestCloseWaitsForListeners(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r, err := New(parse(t, "zookeeper://"+s.Addr()), WithDialer(s.Dial))
		require.NoError(t, err)
		rec := &recorder{block: make(chan struct{})}
		sub := subscribe(t, r, rec)
		require.NoError(t, r.Register(parse(t, "consumer://h/"+iface+"?category=consumers")))
		await(t, "notified", func() bool { return rec.count() == 1 })
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			assert.NoError(t, r.Close())
		}()
		wait(time.Minute)
		select {
		case <-closed:
			require.FailNow(t, "Close did not wait")
		default:
		}
		close(rec.block)
		<-closed
		sub.Close()
		add(t, s, "b")
		wait(time.Minute)
		assert.Equal(t, 1, rec.count())
		assert.Empty(t, s.Sessions())
		err = sub.Ready(t.Context())
		require.NoError(t, err, "it was ready")
	})
}

func TestCloseWithoutServerIsQuick(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Server){
		"stopped": func(s *zktest.Server) { s.Stop() },
		"frozen":  func(s *zktest.Server) { s.Freeze(true) },
		"refused": func(s *zktest.Server) { s.Refuse(true); s.Cut() },
	} {
		for _, lost := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprint(name, " for ", lost), func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					r := open(t, s, "")
					subscribed(t, r)
					require.NoError(t, r.Register(parse(t, "consumer://h/"+iface+"?category=consumers")))
					await(t, "registered", func() bool { return len(lastSession(t, s).Ephemerals) == 1 })
					fault(s)
					wait(lost)
					begin := time.Now()
					require.NoError(t, r.Close())
					assert.LessOrEqual(t, time.Since(begin), 4*time.Second)
				})
			})
		}
	}
}

// A connection that is still in its handshake is given up: the session that it
// would get back has nobody to use it, and the library would race with itself.
func TestCloseDuringHandshake(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		r := open(t, s, "?session=10000")
		subscribed(t, r)
		s.Freeze(true)
		s.Cut()
		wait(1500 * time.Millisecond) // the library rests a second before it connects
		time.AfterFunc(500*time.Millisecond, func() { s.Freeze(false) })
		begin := time.Now()
		require.NoError(t, r.Close())
		assert.LessOrEqual(t, time.Since(begin), time.Second)
		wait(15 * time.Second)
		assert.Empty(t, s.Sessions(), "the session expires")
	})
}

// B194: no password in errors, logs or states.
func TestNoSecretsInTexts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		log, logs := observer.New(zap.DebugLevel)
		require.NoError(t, s.Create(providersDir, ""))
		require.NoError(t, s.Protect(providersDir, "other:one"))
		u := parse(t, "zookeeper://user:secret@"+s.Addr()+"?password=secret")
		r, err := New(u, WithDialer(s.Dial), WithLogger(zap.New(log)))
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		sub := subscribe(t, r, &recorder{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		texts := []string{sub.Ready(ctx).Error()}
		s.Stop()
		wait(time.Minute)
		texts = append(texts, sub.Ready(ctx).Error(), fmt.Sprint(r.State()))
		texts = append(texts, r.Register(parse(t, "consumer://u:secret@h?token=secret")).Error())
		_, err = New(parse(t, "zookeeper://user:secret@h:99999"))
		texts = append(texts, err.Error())
		for _, e := range logs.All() {
			texts = append(texts, e.Message+fmt.Sprint(e.ContextMap()))
		}
		require.Greater(t, len(texts), 8)
		for _, text := range texts {
			assert.NotContains(t, text, "secret")
		}
	})
}
