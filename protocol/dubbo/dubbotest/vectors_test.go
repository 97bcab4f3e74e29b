package dubbotest_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// vectors are frames with what real Java providers answered to them.
type vectors struct {
	Frames     []vector `json:"frames"`
	JavaFrames []vector `json:"java_frames"`
}

type vector struct {
	Name     string   `json:"name"`
	From     string   `json:"from"`
	Hex      string   `json:"hex"`
	Verified []string `json:"verified"`
}

func (v vector) bytes(t testing.TB) []byte {
	b, err := hex.DecodeString(v.Hex)
	require.NoError(t, err)
	return b
}

func loadVectors(t testing.TB) vectors {
	t.Helper()
	data, err := os.ReadFile("../testdata/frames.json")
	require.NoError(t, err)
	var v vectors
	require.NoError(t, json.Unmarshal(data, &v))
	require.NotEmpty(t, v.Frames)
	require.NotEmpty(t, v.JavaFrames)
	return v
}

// user is com.demo.User of the vectors.
type user struct {
	ID       string `hessian:"id"`
	Name     string
	Age      int32
	Score    int64
	Vip      bool
	Balance  float64
	Birthday time.Time
	Tags     []any
	Attrs    map[string]any
	Sex      sex
}

func (user) JavaClassName() string { return "com.demo.User" }

// sex is the enum com.demo.Sex.
type sex hessian.JavaEnum

func (sex) JavaClassName() string { return "com.demo.Sex" }
func (s sex) String() string      { return [...]string{"MAN", "WOMAN"}[s] }
func (s sex) EnumValue(name string) hessian.JavaEnum {
	for i := range sex(2) {
		if i.String() == name {
			return hessian.JavaEnum(i)
		}
	}
	return hessian.InvalidJavaEnum
}

// startGreet starts what the Java providers of the vectors were.
func startGreet(t *testing.T, profile dubbotest.Profile) *dubbotest.Provider {
	p := dubbotest.Start(t, greet+"?version=1.0.0&group=g1", dubbotest.WithProfile(profile))
	for signature, f := range map[string]any{
		"sayHello(java.lang.String)":                          func(name string) string { return "Hello " + name },
		"sayHello(java.lang.String,int)":                      func(name string, n int) string { return fmt.Sprintf("Hello%d %s", n, name) },
		"nothing()":                                           func() {},
		"retNull(java.lang.String)":                           func(string) *string { return nil },
		"prim(boolean,byte,char,short,int,long,float,double)": func(bool, int8, string, int16, int32, int64, float32, float64) int32 { return 4 },
		"getUser(com.demo.User)": func(u *user) *user {
			u.Name = "srv-" + u.Name
			return u
		},
		"list(java.util.List)": func(l []any) string { return fmt.Sprintf("java.util.ArrayList%v", strings.Join(texts(l), ", ")) },
		"arr(java.lang.String[],int[],com.demo.User[])": func(a []string, b []int32, c []user) string {
			return fmt.Sprintf("[%s]%s%v", a[0], strings.ReplaceAll(fmt.Sprint(b), " ", ", "), c)
		},
	} {
		require.NoError(t, p.Handle(signature, f))
	}
	return p
}

func texts(l []any) []string {
	var s []string
	for _, v := range l {
		s = append(s, fmt.Sprint(v))
	}
	if len(s) > 0 {
		s[0], s[len(s)-1] = "["+s[0], s[len(s)-1]+"]"
	}
	return s
}

// release finds the profile of a provider in the vectors.
func release(from string) (dubbotest.Profile, bool) {
	for _, p := range allProfiles {
		if strings.Contains(from, p.String()) {
			return p, true
		}
	}
	return 0, false
}

// TestAnswersLikeJava sends the requests of the vectors and expects what the four
// Java providers answered to these very bytes.
func TestAnswersLikeJava(t *testing.T) {
	all := loadVectors(t)
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		if profile == dubbotest.Dubbo32 {
			return // was not asked; Dubbo33 differs in what is tested elsewhere
		}
		w := dial(t, startGreet(t, profile))
		asked := 0
		for _, v := range all.Frames {
			for _, fact := range v.Verified {
				from, want, ok := strings.Cut(strings.TrimPrefix(fact, "provider "), ": ")
				if p, known := release(from); !ok || !known || p != profile || !strings.HasPrefix(fact, "provider ") {
					continue
				}
				asked++
				t.Run(v.Name, func(t *testing.T) {
					w.t = t
					w.send(v.bytes(t))
					checkFact(t, w, want)
				})
			}
		}
		assert.Greater(t, asked, 10)
	})
}

func checkFact(t *testing.T, w *wire, want string) {
	if strings.HasPrefix(want, "no answer") {
		w.heartbeat()
		return
	}
	got := w.next()
	if answer, ok := strings.CutPrefix(want, "answered "); ok {
		assert.Equal(t, answer, hex.EncodeToString(got.raw))
		return
	}
	var flag int32
	_, err := hessian2.DecodeInto(got.body, &flag)
	require.NoError(t, err)
	require.Equal(t, frame.OK, got.Status)
	head, value, _ := strings.Cut(want, ", value ")
	assert.Equal(t, head, fmt.Sprintf("status %d, result flag %d", got.Status, flag))
	result := got.result(t)
	assert.Equal(t, map[string]any{"dubbo": "2.0.2"}, result.Attachments)
	switch m := result.Value.(type) {
	case map[string]any:
		for _, part := range []string{"age:", "class:com.demo.User", "id:1", "name:srv-bob", "sex:WOMAN"} {
			if strings.Contains(value, part) {
				assert.Contains(t, fmt.Sprint(m), part)
			}
		}
	default:
		assert.Equal(t, value, fmt.Sprint(m))
	}
}

// TestFramesLikeJava compares with the frames that Java providers sent: those
// without a stack trace byte by byte.
func TestFramesLikeJava(t *testing.T) {
	requests := map[string]request{
		"response_hello":       {method: "sayHello", desc: "Ljava/lang/String;", args: []any{"world"}},
		"response_null":        {method: "nothing"},
		"response_ver-2.0.1":   {method: "sayHello", desc: "Ljava/lang/String;", args: []any{"x"}, dubbo: "2.0.1"},
		"response_no-method":   {method: "nope", desc: "Ljava/lang/String;", args: []any{"x"}},
		"response_bad-group":   {method: "sayHello", desc: "Ljava/lang/String;", args: []any{"x"}, attachments: map[string]any{"group": "gX"}},
		"response_bad-version": {method: "sayHello", desc: "Ljava/lang/String;", args: []any{"x"}, version: "9.9.9"},
	}
	all := loadVectors(t)
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := startGreet(t, profile)
		w := dial(t, p)
		compared := 0
		for _, v := range all.JavaFrames {
			if of, ok := release(v.From); !ok || of != profile || !strings.Contains(v.From, "provider") {
				continue
			}
			java := v.bytes(t)
			h, _, err := frame.Parse(java)
			require.NoError(t, err)
			w.t = t
			var got reply
			request, known := requests[v.Name]
			switch {
			case known:
				request.id = h.ID
				got = w.call(request)
			case v.Name == "response_heartbeat":
				w.send(frame.AppendHeartbeat(nil, h.ID))
				got = w.next()
			case v.Name == "readonly_event":
				p.ReadOnly()
				got = w.next()
			case v.Name == "readonly_event_without_data":
				p.ReadOnlyWithoutText()
				got = w.next()
			default:
				continue
			}
			compared++
			if h.Request { // an event: the id is anything
				frame.Seal(got.raw, h.ID)
			}
			if h.Status == frame.OK || h.Request {
				assert.Equal(t, hex.EncodeToString(java), hex.EncodeToString(got.raw), v.Name)
				continue
			}
			assert.Equal(t, java[:4], got.raw[:4], v.Name)
			want := reply{Header: h, body: java[frame.HeaderLen:]}
			assert.Equal(t, comparable(want.text(t)), comparable(got.text(t)), v.Name)
		}
		assert.GreaterOrEqual(t, compared, 2)
	})
}

var (
	address  = regexp.MustCompile(`/?(\[[0-9a-f:]+\]|127\.0\.0\.1):\d+`)
	port     = regexp.MustCompile(`:\d{4,5}`)
	metadata = regexp.MustCompile(`[\w-]+/org\.apache\.dubbo\.metadata\.MetadataService:1\.0\.0:P, `)
)

// comparable is the first line of a text without what differs from run to run.
func comparable(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = address.ReplaceAllString(line, "ADDRESS")
	line = port.ReplaceAllString(line, ":P")
	return metadata.ReplaceAllString(line, "")
}

// TestExceptionLikeJava compares an exception object with Java's, as a consumer
// reads both.
func TestExceptionLikeJava(t *testing.T) {
	for _, v := range loadVectors(t).JavaFrames {
		profile, ok := release(v.From)
		if !ok || v.Name != "response_ex-biz" {
			continue
		}
		t.Run(v.From, func(t *testing.T) {
			var result protocol.Result
			java, err := hessian2.DecodeResult(v.bytes(t)[frame.HeaderLen:], &result)
			require.NoError(t, err)
			require.NotNil(t, java)

			p := startGreet(t, profile)
			require.NoError(t, p.Handle("fail()", func() error { return java }))
			got := dial(t, p).call(request{method: "fail"})
			remote, err := hessian2.DecodeResult(got.body, &result)
			require.NoError(t, err)
			assert.Equal(t, java, remote)
			assert.NotEmpty(t, remote.Stack)
			for _, part := range []string{"suppressedExceptions", "[java.lang.StackTraceElement", "\x51\x90"} { // the last: its own cause
				assert.True(t, bytes.Contains(v.bytes(t), []byte(part)) && bytes.Contains(got.body, []byte(part)), "%q", part)
			}
		})
	}
}
