package dubbo

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

// peer is a scripted provider: handle gets every frame of every connection.
type peer struct {
	t       testing.TB
	handle  func(c *peerConn, f received)
	hangUp  atomic.Bool // closes what it accepts
	address string
	tls     *tls.Config  // nil: plain
	l       net.Listener // nil: in memory

	accepted atomic.Int32
	mu       sync.Mutex
	conns    []*peerConn
	wg       sync.WaitGroup
}

// peerConn is the provider's end of one connection.
type peerConn struct {
	net.Conn
	p      *peer
	number int32 // from 1
	mu     sync.Mutex
}

// received is a frame that the provider got.
type received struct {
	head frame.Header
	body []byte
	raw  []byte
}

// listen starts a provider on loopback. It ends with the test.
func listen(t testing.TB, handle func(c *peerConn, f received)) *peer {
	t.Helper()
	p := &peer{t: t, handle: handle}
	p.listen("127.0.0.1:0")
	t.Cleanup(p.stop)
	return p
}

func (p *peer) listen(address string) {
	l, err := net.Listen("tcp", address)
	require.NoError(p.t, err)
	p.l, p.address = l, l.Addr().String()
	if p.tls != nil {
		l = tls.NewListener(l, p.tls)
	}
	p.wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(nc)
		}
	})
}

// inMemory makes a provider without a network, for tests in a synctest bubble:
// dial connects to it. The owner calls stop.
func inMemory(t testing.TB, handle func(c *peerConn, f received)) *peer {
	return &peer{t: t, handle: handle, address: "10.0.0.1:20880"}
}

func (p *peer) dial(context.Context, string, string) (net.Conn, error) {
	a, b := net.Pipe()
	p.serve(b)
	return a, nil
}

func (p *peer) serve(nc net.Conn) {
	c := &peerConn{Conn: nc, p: p, number: p.accepted.Add(1)}
	p.mu.Lock()
	p.conns = append(p.conns, c)
	p.mu.Unlock()
	p.wg.Go(func() {
		defer nc.Close()
		if p.hangUp.Load() {
			return
		}
		r := bufio.NewReader(nc)
		for {
			f, err := readFrame(r)
			if err != nil {
				return
			}
			p.handle(c, f)
		}
	})
}

// stop closes everything and waits.
func (p *peer) stop() {
	if p.l != nil {
		_ = p.l.Close()
	}
	p.closeAll()
	p.wg.Wait()
}

func (p *peer) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// conn returns the n-th connection, from 1.
func (p *peer) conn(n int) *peerConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > len(p.conns) {
		return nil
	}
	return p.conns[n-1]
}

func readFrame(r io.Reader) (received, error) {
	raw := make([]byte, frame.HeaderLen)
	if _, err := io.ReadFull(r, raw); err != nil {
		return received{}, err
	}
	h, ok, err := frame.Parse(raw)
	if err != nil || !ok {
		return received{}, err
	}
	raw = append(raw, make([]byte, h.Length)...)
	_, err = io.ReadFull(r, raw[frame.HeaderLen:])
	return received{head: h, body: raw[frame.HeaderLen:], raw: raw}, err
}

// send writes whole frames or any bytes; a connection that is closed swallows them.
func (c *peerConn) send(bs ...[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range bs {
		_, _ = c.Write(b)
	}
}

// request is a decoded call.
type request struct {
	dubbo, path, version, method, desc string
	args                               []any
	attachments                        map[any]any
}

// call decodes the request with the library that is not under test.
func (f received) call(t testing.TB) request {
	d := hessian.NewDecoder(f.body)
	next := func() any {
		v, err := d.Decode()
		require.NoError(t, err)
		return v
	}
	text := func() string { s, _ := next().(string); return s }
	r := request{dubbo: text(), path: text(), version: text(), method: text(), desc: text()}
	for range parameterCount(r.desc) {
		r.args = append(r.args, next())
	}
	r.attachments, _ = next().(map[any]any)
	return r
}

func parameterCount(desc string) (n int) {
	for desc != "" {
		desc = strings.TrimLeft(desc, "[")
		if desc[0] == 'L' {
			_, desc, _ = strings.Cut(desc, ";")
		} else {
			desc = desc[1:]
		}
		n++
	}
	return n
}

// isCall reports whether the frame is a call, and answers heartbeats.
func (f received) isCall(c *peerConn) bool {
	if f.head.Event {
		if f.head.TwoWay {
			c.send(frame.AppendHeartbeatAnswer(nil, f.head))
		}
		return false
	}
	return f.head.Request
}

// echo answers calls with their first argument.
func echo(c *peerConn, f received) {
	if f.isCall(c) && f.head.TwoWay {
		r := f.call(c.p.t)
		var v any
		if len(r.args) > 0 {
			v = r.args[0]
		}
		c.send(answer(f.head.ID, value(v)))
	}
}

// mute takes everything and answers nothing.
func mute(*peerConn, received) {}

// answer builds a response with status 20.
func answer(id uint64, body []byte) []byte { return answerAs(id, frame.Hessian2, frame.OK, body) }

func answerAs(id uint64, serialization byte, status frame.Status, body []byte) []byte {
	f := frame.Header{Serialization: serialization, Status: status}.Append(nil)
	f = append(f, body...)
	frame.Seal(f, id)
	return f
}

// statusAnswer builds a response with an error status.
func statusAnswer(id uint64, status frame.Status, text string) []byte {
	return answerAs(id, frame.Hessian2, status, encoded(text))
}

// value is the body of a result with attachments.
func value(v any) []byte {
	if v == nil {
		return append([]byte{0x95}, "H\x05dubbo\x052.0.2Z"...)
	}
	return append(append([]byte{0x94}, encoded(v)...), "H\x05dubbo\x052.0.2Z"...)
}

func encoded(v any) []byte {
	e := hessian.NewEncoder()
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return e.Buffer()
}

// event builds a one-way event.
func event(serialization byte, body string) []byte {
	f := frame.Header{Request: true, Event: true, Serialization: serialization}.Append(nil)
	f = append(f, body...)
	frame.Seal(f, 7)
	return f
}

// header builds sixteen bytes with any flags and length.
func header(flags, status byte, id uint64, length uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{0xda, 0xbb, flags, status}, id)
	return binary.BigEndian.AppendUint32(b, length)
}

const demo = "com.example.DemoService"

// providerURL is a merged provider URL of the peer.
func providerURL(t testing.TB, address string, params ...string) url.URL {
	t.Helper()
	u, err := url.Parse("dubbo://" + address + "/" + demo + "?side=consumer&application=shop-web")
	require.NoError(t, err)
	return u.With(params...)
}

// newProtocol makes a protocol that is closed at the end of the test.
func newProtocol(t testing.TB, opts ...Option) *Protocol {
	p := New(opts...)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// refer makes an endpoint for the peer.
func refer(t testing.TB, p *Protocol, address string, params ...string) protocol.Endpoint {
	t.Helper()
	e, err := p.Refer(providerURL(t, address, params...))
	require.NoError(t, err)
	return e
}

var echoMethod = &protocol.Method{
	Service: demo, Name: "echo", WireName: "echo",
	Descriptor: "Ljava/lang/String;", Parameters: []string{"java.lang.String"},
}

// invocation is a call of echo with a generous deadline.
func invocation(args ...any) *protocol.Invocation {
	return &protocol.Invocation{Method: echoMethod, Arguments: args, Deadline: time.Now().Add(time.Minute)}
}

// within sets the deadline of a call.
func within(d time.Duration, args ...any) *protocol.Invocation {
	inv := invocation(args...)
	inv.Deadline = time.Now().Add(d)
	return inv
}

// invoke makes a call and returns its value.
func invoke(ctx context.Context, e protocol.Endpoint, inv *protocol.Invocation) (any, error) {
	r, err := e.Invoke(ctx, inv)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// failure returns the error of a call that must fail.
func failure(t testing.TB, err error) *protocol.Error {
	t.Helper()
	require.Error(t, err)
	var e *protocol.Error
	require.True(t, errors.As(err, &e), "%T is no *protocol.Error: %v", err, err)
	return e
}

func mustParse(t testing.TB, s string) url.URL {
	t.Helper()
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}

// discard is a network connection that takes everything and brings nothing.
type discard struct{ net.Conn }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }
