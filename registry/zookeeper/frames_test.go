package zookeeper

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// packet is a packet of so many bytes, with its length.
func packet(n int) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(n)), bytes.Repeat([]byte{0xff}, n)...)
}

// Lengths are found wherever reads cut the stream.
func TestFramesFindLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := packet(rapid.IntRange(grantMin, 41).Draw(t, "grant"))
		for _, n := range rapid.SliceOfN(rapid.IntRange(packetMin, 99), 0, 5).Draw(t, "packets") {
			stream = append(stream, packet(n)...)
		}
		good := len(stream)
		bad := rapid.SampledFrom([]uint32{0, packetMin - 1, receiveLimit + 1, 0xffffffff}).Draw(t, "bad")
		stream = binary.BigEndian.AppendUint32(stream, bad)
		var f frames
		for passed := 0; ; {
			n := rapid.IntRange(1, 30).Draw(t, "read")
			end := min(passed+n, len(stream))
			err := f.pass(stream[passed:end])
			if passed = end; passed < good+4 {
				require.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, fmt.Sprintf("a packet of %d bytes", bad))
			return
		}
	})
}

func TestFramesRefuseWhatIsNoGrant(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP":                                  `answered "HTTP"`,
		"HTTP/1.1 400 Bad Request\r\nServer: x": `answered "HTTP/1.1 400 Bad Request"`,
		"\xda\xbb\x02\x14\n":                    `answered "\u06bb\x02\x14\n"`,
		"SSH-" + strings.Repeat("x", 60):        `answered "SSH-` + strings.Repeat("x", 36) + `…"`,
		string(packet(grantMin - 1)[:4]):        `answered "\x00\x00\x00\x13"`,
		string([]byte{0, 0, 4, 1}):              `answered "\x00\x00\x04\x01"`,
	} {
		var f frames
		require.EqualError(t, f.pass([]byte(answer)), "this is no ZooKeeper server: it "+want)
	}
	for _, n := range []int{grantMin, 36, 41, grantMax} {
		var f frames
		require.NoError(t, f.pass(packet(n)))
	}
}

// answering returns a dialer to a server that says one thing, in pieces, and waits
// for the client to leave.
func answering(pieces ...string) Dialer {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer func() { _ = ours.Close() }()
			request := make([]byte, 256)
			if _, err := ours.Read(request); err != nil {
				return
			}
			for _, p := range pieces {
				if _, err := ours.Write([]byte(p)); err != nil {
					return
				}
			}
			_, _ = ours.Read(request)
		}()
		return theirs, nil
	}
}

// An address of something else is told as such, by the state and to who waits.
func TestNoZooKeeperServer(t *testing.T) {
	const mute = "h:20880 accepts connections but grants no session (is it a ZooKeeper server?)"
	for name, c := range map[string]struct {
		pieces []string
		wait   time.Duration
		want   string
	}{
		"http":           {[]string{"HTTP/1.1 400 Bad Request\r\n\r\n"}, 5 * time.Second, `h:20880 grants no session: this is no ZooKeeper server: it answered "HTTP/1.1 400 Bad Request"`},
		"http in pieces": {[]string{"H", "TT", "P/1.1"}, 5 * time.Second, `this is no ZooKeeper server: it answered "HTTP/1.1"`},
		"mute, early":    {nil, time.Second, mute},
		"mute, late":     {nil, time.Minute, mute + ": no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := New(parse(t, "zookeeper://h:20880"), WithDialer(answering(c.pieces...)))
				require.NoError(t, err)
				defer func() { require.NoError(t, r.Close()) }()
				ctx, cancel := context.WithTimeout(t.Context(), c.wait)
				defer cancel()
				err = subscribe(t, r, &recorder{}).Ready(ctx)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, c.want)
				assert.ErrorContains(t, r.State().LastError, c.want)
			})
		})
	}
}

// A registration's end is told once, however quickly users come and go.
func TestComingAndGoing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		pool := NewPool(WithDialer(s.Dial))
		stay, err := pool.Open(parse(t, "zookeeper://"+s.Addr()))
		require.NoError(t, err)
		defer func() { require.NoError(t, stay.Close()) }()
		for i := range 2000 {
			r, err := pool.Open(parse(t, "zookeeper://"+s.Addr()))
			require.NoError(t, err)
			sub := subscribe(t, r, &recorder{})
			require.NoError(t, r.Register(consumerURL(t)))
			if i%4 == 0 { // a new session has every registration looked at
				s.Cut()
			}
			if i%2 == 0 {
				wait(time.Duration(i%41) * time.Millisecond)
			}
			if i%3 > 0 {
				require.NoError(t, r.Unregister(consumerURL(t)))
			}
			if i%5 > 0 {
				sub.Close()
			}
			require.NoError(t, r.Close())
		}
		wait(time.Minute)
		requireConnected(t, stay)
		assert.Empty(t, lastSession(t, s).Ephemerals)
		stay.client.mu.Lock()
		defer stay.client.mu.Unlock()
		assert.Empty(t, stay.client.registrations)
		assert.Empty(t, stay.client.paths)
	})
}
