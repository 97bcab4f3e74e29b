package dubbotest_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

var allProfiles = []dubbotest.Profile{dubbotest.Dubbo26, dubbotest.Dubbo27, dubbotest.Dubbo32, dubbotest.Dubbo33}

func eachProfile(t *testing.T, f func(t *testing.T, profile dubbotest.Profile)) {
	for _, p := range allProfiles {
		t.Run(p.String(), func(t *testing.T) { f(t, p) })
	}
}

// patience is for what must come; it is not waited for as a rule.
const patience = 10 * time.Second

// wire is a consumer that sends and reads frames as they are.
type wire struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, p *dubbotest.Provider) *wire {
	t.Helper()
	nc, err := p.Dial(t.Context(), "", "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = nc.Close() })
	return &wire{t, nc, bufio.NewReader(nc)}
}

func (w *wire) send(b []byte) {
	w.t.Helper()
	_, err := w.Write(b)
	require.NoError(w.t, err)
}

// reply is a frame that came.
type reply struct {
	frame.Header
	body []byte
	raw  []byte
}

// text is the text of an error answer.
func (r reply) text(t *testing.T) string {
	t.Helper()
	s, ok := hessian2.DecodeText(r.Serialization, r.body)
	require.True(t, ok, "% x", r.body)
	return s
}

// value is the natural value of an answer, with its attachments.
func (r reply) result(t *testing.T) protocol.Result {
	t.Helper()
	require.Equal(t, frame.OK, r.Status)
	result := protocol.Result{WantAttachments: true}
	remote, err := hessian2.DecodeResult(r.body, &result)
	require.NoError(t, err)
	require.Nil(t, remote)
	return result
}

func (w *wire) receive() (reply, error) {
	require.NoError(w.t, w.SetReadDeadline(time.Now().Add(patience)))
	raw := make([]byte, frame.HeaderLen)
	if _, err := io.ReadFull(w.r, raw); err != nil {
		return reply{}, err
	}
	h, _, err := frame.Parse(raw)
	if err != nil {
		return reply{}, err
	}
	raw = append(raw, make([]byte, h.Length)...)
	_, err = io.ReadFull(w.r, raw[frame.HeaderLen:])
	return reply{h, raw[frame.HeaderLen:], raw}, err
}

func (w *wire) next() reply {
	w.t.Helper()
	r, err := w.receive()
	require.NoError(w.t, err)
	return r
}

// ended waits for the end of the connection; a frame before it is an error.
func (w *wire) ended() {
	w.t.Helper()
	r, err := w.receive()
	require.Error(w.t, err, "%+v", r)
	var timeout net.Error
	require.False(w.t, errors.As(err, &timeout) && timeout.Timeout(), "still open")
}

// request is what a consumer sends; the zero values are those of a good request to
// com.demo.Greet 1.0.0 in group g1.
type request struct {
	id            uint64
	oneWay        bool
	serialization byte
	dubbo         string
	path          string
	version       string
	method, desc  string
	args          []any
	attachments   map[string]any
	body          []byte // instead of all that
}

const greet = "com.demo.Greet"

func (r request) bytes(t *testing.T) []byte {
	t.Helper()
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&r.dubbo, "2.0.2")
	def(&r.path, greet)
	def(&r.version, "1.0.0")
	if r.serialization == 0 {
		r.serialization = frame.Hessian2
	}
	attachments := map[string]any{"path": r.path, "version": r.version, "group": "g1"}
	for k, v := range r.attachments {
		attachments[k] = v
	}
	f := frame.Header{Request: true, TwoWay: !r.oneWay, Serialization: r.serialization}.Append(nil)
	if r.body != nil {
		f = append(f, r.body...)
	} else {
		values := append([]any{r.dubbo, r.path, r.version, r.method, r.desc}, r.args...)
		var err error
		f, err = hessian2.AppendArguments(f, append(values, attachments))
		require.NoError(t, err)
	}
	frame.Seal(f, r.id)
	return f
}

// call sends a request and returns the answer.
func (w *wire) call(r request) reply {
	w.t.Helper()
	w.send(r.bytes(w.t))
	a := w.next()
	require.False(w.t, a.Request)
	require.Equal(w.t, r.id, a.ID)
	return a
}

// heartbeat makes sure that the connection lives and that everything before has
// been handled: the provider reads in order.
func (w *wire) heartbeat() {
	w.t.Helper()
	w.send(frame.AppendHeartbeat(nil, 1<<40))
	a := w.next()
	require.True(w.t, a.Event, "%+v", a.Header)
	require.EqualValues(w.t, 1<<40, a.ID)
}
