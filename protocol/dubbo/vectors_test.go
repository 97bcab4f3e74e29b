package dubbo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
	"github.com/gofer-rpc/gofer/url"
)

// vector is one frame of testdata/frames.json: of a Go library, checked against
// live Java providers and consumers, or captured from them.
type vector struct {
	Name, From, Hex string
	Parts           []struct{ Hex, What string }
}

func (v vector) bytes(t *testing.T) []byte {
	b, err := hex.DecodeString(v.Hex)
	require.NoError(t, err)
	return b
}

// texts returns the descriptions that begin with the prefix, without it.
func (v vector) texts(prefix string) (texts []string) {
	for _, p := range v.Parts {
		if text, ok := strings.CutPrefix(p.What, prefix); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// eachVector runs f for the frames of which the filter holds. Long parts of the
// captured frames are cut off in their list.
func eachVector(t *testing.T, filter func(frame.Header) bool, f func(t *testing.T, v vector, r received)) {
	raw, err := os.ReadFile("testdata/frames.json")
	require.NoError(t, err)
	var file struct {
		Frames []vector
		Java   []vector `json:"java_frames"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	require.Len(t, file.Frames, 26)
	require.Len(t, file.Java, 73)
	ran := 0
	for _, v := range append(file.Frames, file.Java...) {
		b := v.bytes(t)
		whole := ""
		for _, p := range v.Parts {
			whole += p.Hex
		}
		h, ok, err := frame.Parse(b)
		require.NoError(t, err)
		require.True(t, ok)
		require.Len(t, b, frame.HeaderLen+h.Length)
		if strings.HasPrefix(v.From, "go") {
			require.Equal(t, v.Hex, whole, v.Name)
		}
		if !filter(h) {
			continue
		}
		ran++
		t.Run(v.From+" "+v.Name, func(t *testing.T) { f(t, v, received{head: h, raw: b, body: b[frame.HeaderLen:]}) })
	}
	require.NotZero(t, ran)
}

func isCall(h frame.Header) bool     { return h.Request && !h.Event }
func isResponse(h frame.Header) bool { return !h.Request && !h.Event }
func isEvent(h frame.Header) bool    { return h.Event }

// Every request is written again, byte by byte: the head always, the arguments
// wherever Go values say all that the bytes do, the attachments in our own order.
func TestVectorsRequests(t *testing.T) {
	eachVector(t, isCall, func(t *testing.T, v vector, r received) {
		want := r.call(t)
		u, inv, budget := asInvocation(t, want)
		s := newService(u, "")
		attachments := bytes.LastIndex(r.raw, []byte("H\x04path"))
		require.Positive(t, attachments)

		head := bytes.Clone(s.prefix(inv.Method))
		if !r.head.TwoWay {
			frame.OneWay(head)
		}
		require.Less(t, len(head), len(r.raw))
		got := append(bytes.Clone(head), r.raw[len(head):]...)
		frame.Seal(got, r.head.ID)
		assert.Equal(t, v.Hex, hex.EncodeToString(got))

		args, err := hessian2.AppendArguments(nil, want.args)
		require.NoError(t, err)
		if why := notInGo[v.Name]; why == "" {
			assert.Equal(t, hex.EncodeToString(r.raw[len(head):attachments]), hex.EncodeToString(args))
		} else {
			again := received{body: append(append(bytes.Clone(head[frame.HeaderLen:]), args...), 'N')}.call(t)
			assert.Equal(t, want.args, again.args, why)
		}

		ours := s.appendAttachments(nil, inv, budget)
		if strings.HasPrefix(v.From, "go") {
			assert.Equal(t, hex.EncodeToString(r.raw[attachments:]), hex.EncodeToString(ours))
			return
		}
		decoded, err := hessian.NewDecoder(ours).Decode() // Java walks a hash map
		require.NoError(t, err)
		if want.attachments["timeout"] == nil {
			delete(decoded.(map[any]any), "timeout") // 2.7 sends none
		}
		assert.Equal(t, want.attachments, decoded)
	})
}

// notInGo names the requests whose argument bytes say more than the Go values
// decoded from them, or the same in another way.
var notInGo = map[string]string{
	"prims_request":   "the library wrote 2.5 in nine bytes, Java and we write it in five",
	"pojo_request":    "an object of an unregistered class is a map: the order of fields is lost",
	"request_getUser": "an object of an unregistered class is a map: the order of fields is lost",
	"array_request":   "an empty array of an unregistered class is a list",
	"generic_request": "a map of several entries",
	"request_list":    "java.util.ArrayList is a list",
}

// asInvocation turns a decoded request into what makes the same one here.
func asInvocation(t *testing.T, r request) (url.URL, *protocol.Invocation, time.Duration) {
	text := func(key string) string { s, _ := r.attachments[key].(string); return s }
	require.Equal(t, protocolVersion, r.dubbo)
	u := url.New("dubbo", "10.0.0.1", 20880, text("path"), nil).
		With("side", "consumer", "interface", text("interface"), "version", text("version"), "group", text("group"), "application", text("remote.application"))
	inv := &protocol.Invocation{
		Method:    &protocol.Method{Name: r.method, WireName: r.method, Descriptor: r.desc, Generic: text("generic")},
		Arguments: r.args,
	}
	for _, key := range []string{"dubbo.tag", "_TO", "token", "trace-id", "trace"} {
		if v := text(key); v != "" {
			inv.Attach(key, v)
		}
	}
	ms, _ := strconv.Atoi(text("timeout"))
	return u, inv, time.Duration(ms) * time.Millisecond
}

// Every response, delivered as the answer to a call, becomes what its parts say.
func TestVectorsResponses(t *testing.T) {
	eachVector(t, isResponse, func(t *testing.T, v vector, r received) {
		bubble(t, func(c *peerConn, f received) {
			reply := bytes.Clone(r.raw)
			frame.Seal(reply, f.head.ID)
			c.send(reply)
		}, func(t *testing.T, p *peer, d *Protocol) {
			inv := invocation("x")
			inv.Result.WantAttachments = true
			result, err := refer(t, d, p.address).Invoke(t.Context(), inv)
			if texts := v.texts("error text: "); len(texts) > 0 {
				checkErrorText(t, failure(t, err), r.head.Status, texts[0])
				return
			}
			if texts := v.texts("exception: "); len(texts) > 0 {
				checkException(t, err, texts[0])
				return
			}
			require.NoError(t, err)
			texts := v.texts("value: ")
			assert.Equal(t, len(texts) == 0, result.Null)
			if len(texts) > 0 {
				checkValue(t, result.Value, texts[0])
			}
			if attachments := v.texts("attachments: "); len(attachments) > 0 {
				assert.Equal(t, map[string]any{"dubbo": "2.0.2"}, result.Attachments)
			}
		})
	})
}

var (
	objectPart    = regexp.MustCompile(`^object ([\w.]+), detailMessage (.*)$`)
	exceptionPart = regexp.MustCompile(`exception=([\w.]+): (.*?)\]\]`)
	countPart     = regexp.MustCompile(`^(list|map) of (\d+)$`)
)

func checkValue(t *testing.T, got any, want string) {
	if m := countPart.FindStringSubmatch(want); m != nil {
		assert.Len(t, got, mustAtoi(t, m[2]))
		return
	}
	if m := objectPart.FindStringSubmatch(want); m != nil {
		object, ok := got.(map[string]any)
		require.True(t, ok, "%T", got)
		assert.Equal(t, m[1], object["class"])
		return
	}
	assert.Equal(t, want, got)
}

func mustAtoi(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

func checkException(t *testing.T, err error, want string) {
	m := objectPart.FindStringSubmatch(want)
	require.NotNil(t, m, want)
	assert.Equal(t, protocol.RetryNever, failure(t, err).Retry)
	checkRemote(t, err, m[1], m[2])
}

func checkRemote(t *testing.T, err error, class, message string) {
	assert.ErrorIs(t, err, protocol.ErrBusiness)
	var remote *protocol.RemoteError
	require.ErrorAs(t, err, &remote)
	assert.Equal(t, class, remote.Class)
	assert.Equal(t, message, remote.Message)
}

func checkErrorText(t *testing.T, e *protocol.Error, status frame.Status, text string) {
	if m := exceptionPart.FindStringSubmatch(text); status == frame.BadResponse && m != nil {
		checkRemote(t, e, m[1], m[2])
		return
	}
	assert.Contains(t, e.Detail, status.String())
	line, _, _ := strings.Cut(strings.TrimSuffix(text, "…"), "\n")
	line, _, _ = strings.Cut(line, ", m") // "… in [list], may be version or group mismatch"
	assert.Contains(t, e.Detail, line)
}

// Every event does what its parts say: a heartbeat is answered, readonly and
// writeable change the state.
func TestVectorsEvents(t *testing.T) {
	eachVector(t, isEvent, func(t *testing.T, v vector, r received) {
		bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
			answers := make(chan received, 1)
			p.handle = func(_ *peerConn, f received) { answers <- f }
			e := refer(t, d, p.address)
			synctest.Wait()
			reads := only(t, d).Reads
			if v.Name == "writeable_event" {
				p.conn(1).send(event(frame.Hessian2, "\x01R"))
				synctest.Wait()
				require.Equal(t, protocol.ReadOnly, e.State())
			}
			p.conn(1).send(r.raw)
			synctest.Wait()
			assert.Greater(t, only(t, d).Reads, reads)
			want := protocol.Ready
			switch {
			case r.head.Request && r.head.TwoWay:
				assert.Equal(t, frame.AppendHeartbeatAnswer(nil, r.head), (<-answers).raw)
			case strings.HasPrefix(v.Name, "readonly_event"):
				want = protocol.ReadOnly
			}
			assert.Equal(t, want, e.State())
			assert.Empty(t, answers)
		})
	})
}

// Our own events are, but for the id, the bytes that live Java peers took.
func TestVectorsOurEvents(t *testing.T) {
	eachVector(t, isEvent, func(t *testing.T, v vector, r received) {
		switch v.Name {
		case "heartbeat_request":
			assert.Equal(t, v.Hex, hex.EncodeToString(frame.AppendHeartbeat(nil, r.head.ID)))
		case "heartbeat_response", "response_heartbeat":
			assert.Equal(t, v.Hex, hex.EncodeToString(frame.AppendHeartbeatAnswer(nil, frame.Header{Serialization: frame.Hessian2, ID: r.head.ID})))
		}
	})
}
