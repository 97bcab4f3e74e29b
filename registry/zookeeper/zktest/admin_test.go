package zktest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

func TestDumpAndFourLetters(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.NoError(t, s.Create("/a/b", "data"))
	require.ErrorIs(t, s.Create("/a/b", ""), zktest.NodeExists)
	require.ErrorIs(t, s.Create("a", ""), zktest.BadArguments)
	require.NoError(t, s.Set("/a/b", "more"))
	require.ErrorIs(t, s.Set("/none", ""), zktest.NoNode)
	dump := s.Dump()
	require.Len(t, dump, 2)
	assert.Equal(t, []string{"b"}, dump[0].Children)
	assert.Equal(t, "more", dump[1].Data)
	require.NoError(t, s.Delete("/a"))
	require.ErrorIs(t, s.Delete("/a"), zktest.NoNode)
	assert.Empty(t, s.Dump())

	c, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte("ruok"))
	require.NoError(t, err)
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.Equal(t, "imok", string(answer))
}

// Garbage ends the connection and nothing else.
func TestGarbage(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, b := range []string{"\x00\x00\x00\x00", "\x00\x00\x00\x04abcd", "\xff\xff\xff\xff", "GET / HTTP/1.1\r\n\r\n",
		"\x00\x00\x00\x2c" + fmt.Sprintf("%044d", 0)} {
		c, err := net.Dial("tcp", s.Addr())
		require.NoError(t, err)
		_, err = c.Write([]byte(b))
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(patience)))
		_, err = io.ReadAll(c)
		assert.NotErrorIs(t, err, io.ErrUnexpectedEOF)
		var timeout net.Error
		if assert.False(t, errors.As(err, &timeout) && timeout.Timeout(), "%q is still open", b) {
			_ = c.Close()
		}
	}
	dial(t, s, 4*time.Second)
}

// In memory the server lives in a bubble: a session of a minute expires at once.
func TestInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := zktest.Start(zktest.InMemory(), zktest.WithSessionLimits(time.Minute, time.Hour))
		require.NoError(t, err)
		defer s.Close()
		dial := func(_, address string, _ time.Duration) (net.Conn, error) {
			return s.Dial(t.Context(), "tcp", address)
		}
		c, events, err := zk.Connect([]string{s.Addr()}, time.Second, zk.WithLogger(silent{}), zk.WithDialer(dial))
		require.NoError(t, err)
		s.Delay(3 * time.Second)
		begin := time.Now()
		_, _, err = c.Children("/")
		require.NoError(t, err)
		assert.Equal(t, 6*time.Second, time.Since(begin), "the handshake and the request")
		s.Delay(0)
		require.Equal(t, time.Minute, s.Sessions()[0].Timeout)

		s.Stop()
		_, err = s.Dial(t.Context(), "", "")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		<-time.After(10 * time.Minute)
		require.Len(t, s.Sessions(), 1, "a stopped server expires nothing")
		s.Refuse(true)
		require.NoError(t, s.Resume())
		<-time.After(2 * time.Minute)
		assert.Empty(t, s.Sessions())
		s.Heal()
		_, _, err = c.Children("/")
		for errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrConnectionClosed) {
			_, _, err = c.Children("/")
		}
		require.NoError(t, err)
		require.Len(t, s.Sessions(), 1)
		c.Close()
		for range events {
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Stop()
		_, err = s.Dial(ctx, "", "")
		require.Error(t, err)
	})
}
