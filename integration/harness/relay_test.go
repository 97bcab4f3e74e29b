package harness

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// echoServer sends back what it gets until the test ends.
func echoServer(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func newRelay(t *testing.T) *Relay {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	relay, err := NewRelay(echoServer(t))
	require.NoError(t, err)
	t.Cleanup(relay.Close)
	return relay
}

type peer struct {
	net.Conn
	lines *bufio.Reader
}

func dial(t *testing.T, relay *Relay) peer {
	conn, err := net.Dial("tcp", relay.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	return peer{conn, bufio.NewReader(conn)}
}

func (p peer) send(t *testing.T, line string) {
	_, err := io.WriteString(p, line+"\n")
	require.NoError(t, err)
}

func (p peer) expect(t *testing.T, line string) {
	got, err := p.lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, line+"\n", got)
}

func TestRelayPassesBytesOn(t *testing.T) {
	relay := newRelay(t)
	first, second := dial(t, relay), dial(t, relay)
	first.send(t, "one")
	second.send(t, "two")
	first.expect(t, "one")
	second.expect(t, "two")
	require.Equal(t, 2, relay.Accepted())

	// The end of what one side writes reaches the other side, which may still answer.
	first.send(t, "last")
	require.NoError(t, first.Conn.(*net.TCPConn).CloseWrite())
	first.expect(t, "last")
	_, err := first.lines.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

func TestRelayCut(t *testing.T) {
	relay := newRelay(t)
	conn := dial(t, relay)
	conn.send(t, "before")
	conn.expect(t, "before")

	relay.Cut()
	_, err := conn.lines.ReadByte()
	require.ErrorIs(t, err, syscall.ECONNRESET)

	again := dial(t, relay)
	again.send(t, "after")
	again.expect(t, "after")
}

func TestRelayRefuse(t *testing.T) {
	relay := newRelay(t)
	conn := dial(t, relay)
	conn.send(t, "before")
	conn.expect(t, "before")

	relay.Refuse()
	_, err := conn.lines.ReadByte()
	require.ErrorIs(t, err, syscall.ECONNRESET)
	_, err = net.Dial("tcp", relay.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	relay.Refuse()

	addr := relay.Addr()
	require.NoError(t, relay.Resume())
	require.Equal(t, addr, relay.Addr())
	again := dial(t, relay)
	again.send(t, "after")
	again.expect(t, "after")
}

func TestRelayFreeze(t *testing.T) {
	relay := newRelay(t)
	conn := dial(t, relay)
	conn.send(t, "before")
	conn.expect(t, "before")

	relay.Freeze()
	relay.Freeze()
	conn.send(t, "held")
	late := dial(t, relay)
	late.send(t, "new")
	for _, silent := range []peer{conn, late} {
		require.NoError(t, silent.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		_, err := silent.lines.ReadByte()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "open, and not a byte")
		require.NoError(t, silent.SetReadDeadline(time.Now().Add(10*time.Second)))
	}

	require.NoError(t, relay.Resume())
	conn.expect(t, "held")
	late.expect(t, "new")
}

func TestRelayCutWhileFrozen(t *testing.T) {
	relay := newRelay(t)
	conn := dial(t, relay)
	conn.send(t, "before")
	conn.expect(t, "before")
	relay.Freeze()
	conn.send(t, "lost")
	relay.Cut()
	_, err := conn.lines.ReadByte()
	require.Error(t, err)
	require.False(t, errors.Is(err, os.ErrDeadlineExceeded))
	require.NoError(t, relay.Resume())
	again := dial(t, relay)
	again.send(t, "after")
	again.expect(t, "after")
}

func TestRelayClosed(t *testing.T) {
	relay := newRelay(t)
	relay.Freeze()
	conn := dial(t, relay)
	conn.send(t, "held")
	relay.Close()
	relay.Close()
	require.ErrorContains(t, relay.Resume(), relay.Addr()+" is closed")
	_, err := net.Dial("tcp", relay.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestRelayWithoutTarget(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	target := listener.Addr().String()
	require.NoError(t, listener.Close())
	relay, err := NewRelay(target)
	require.NoError(t, err)
	defer relay.Close()
	_, err = dial(t, relay).lines.ReadByte()
	require.Error(t, err, "a connection whose target refuses is closed")
}
