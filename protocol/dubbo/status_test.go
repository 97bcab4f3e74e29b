package dubbo

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

const stack = "\n\tat org.apache.dubbo.rpc.Secret.frame(Secret.java:1)\n\tat java.lang.Thread.run(Thread.java:840)"

// failWith makes a call that the provider answers with the given frame.
func failWith(t *testing.T, inv *protocol.Invocation, reply func(id uint64) []byte, params ...string) *protocol.Error {
	t.Helper()
	var e *protocol.Error
	bubble(t, func(c *peerConn, f received) { c.send(reply(f.head.ID)) }, func(t *testing.T, p *peer, d *Protocol) {
		_, err := invoke(t.Context(), refer(t, d, p.address, params...), inv)
		e = failure(t, err)
		assert.Equal(t, demo, e.Service)
		assert.Equal(t, inv.Method.Name, e.Method)
		assert.Equal(t, p.address, e.Provider)
		assert.True(t, e.Sent)
		assert.NotContains(t, e.Error(), "Secret.java", "no stack trace")
		assert.Zero(t, only(t, d).InFlight)
	})
	return e
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		status frame.Status
		text   string
		code   protocol.Code
		retry  protocol.Retry
		detail string
	}{
		{"answer over the limit, 3.x", 25, "Data length too large: 9000011, max payload: 8388608" + stack,
			protocol.ErrSerialization, protocol.RetryNever, "Data length too large: 9000011"},
		{"decode, 2.7", 40, "Fail to decode request due to: java.lang.IllegalArgumentException: Service not found:com.example.DemoService, echo" + stack,
			protocol.ErrNotFound, protocol.RetryNever, "Service not found:com.example.DemoService, echo"},
		{"decode, 2.6 and 3.x", 40, "Fail to decode request due to: RpcInvocation [methodName=echo, parameterTypes=null]",
			protocol.ErrNotFound, protocol.RetryNever, `method "echo", descriptor "Ljava/lang/String;", arguments (string)`},
		{"answer over the limit, 2.x", 50, "Failed to send response: Response [id=1, version=2.0.2, status=20, event=false, error=null, result=RpcResult [result=xxx, exception=null]], cause: java.io.IOException: Data length too large: 9000011" + stack,
			protocol.ErrSerialization, protocol.RetryNever, "java.io.IOException: Data length too large: 9000011"},
		{"value not serializable", 50, "Failed to send response: Response [id=1, result=AppResponse [value=Optional[x], exception=null]], cause: java.lang.IllegalStateException: Serialized class java.util.Optional must implement java.io.Serializable" + stack,
			protocol.ErrSerialization, protocol.RetryNever, "java.util.Optional must implement"},
		{"service not found", 60, "gone", protocol.ErrNotFound, protocol.RetryAlways, "60 SERVICE_NOT_FOUND: gone"},
		{"not exported", 70, "org.apache.dubbo.remoting.RemotingException: Not found exported service: gX/com.example.DemoService:1.0.0:20880 in [g1/com.example.DemoService:1.0.0:20880], may be version or group mismatch , channel: consumer: /10.0.0.9:1 --> provider" + stack,
			protocol.ErrNotFound, protocol.RetryAlways, "gX/com.example.DemoService:1.0.0:20880 in [g1/com.example.DemoService:1.0.0:20880]"},
		{"executes", 70, `org.apache.dubbo.rpc.RpcException: Failed to invoke method echo in provider dubbo://10.0.0.1:20880/com.example.DemoService?token=hunter2, cause: The service using threads greater than <dubbo:service executes="1" /> limited.` + stack,
			protocol.ErrLimitExceeded, protocol.RetryAlways, `The service using threads greater than <dubbo:service executes="1" /> limited.`},
		{"token", 70, "org.apache.dubbo.rpc.RpcException: Invalid token! Forbid invoke remote service interface com.example.DemoService method echo() from consumer 10.0.0.9 to provider 10.0.0.1, consumer incorrect token is null" + stack,
			protocol.ErrForbidden, protocol.RetryNever, "Invalid token!"},
		{"no such method, 2.x", 70, "com.alibaba.dubbo.rpc.RpcException: Failed to invoke remote proxy method echo to dubbo://10.0.0.1:20880/x?token=hunter2, cause: Not found method \"echo\" in class x." + stack,
			protocol.ErrNotFound, protocol.RetryNever, `Not found method "echo" in class x.`},
		{"no such method, generic", 70, "org.apache.dubbo.rpc.RpcException: java.lang.NoSuchMethodException: com.example.DemoService.nope()" + stack,
			protocol.ErrNotFound, protocol.RetryNever, "com.example.DemoService.nope()"},
		{"no such method, generic of 2.x", 70, "com.alibaba.dubbo.rpc.RpcException: com.example.DemoService.echo(java.lang.String)" + stack,
			protocol.ErrNotFound, protocol.RetryNever, "com.example.DemoService.echo(java.lang.String)"},
		{"not unique", 70, "org.apache.dubbo.rpc.RpcException: java.lang.IllegalStateException: Not unique method for method name(echo)" + stack,
			protocol.ErrNotFound, protocol.RetryNever, "Not unique method"},
		{"safety barrier", 70, "org.apache.dubbo.rpc.RpcException: [Serialization Security] Trigger the safety barrier! Illegal Serializer is not allowed" + stack,
			protocol.ErrSerialization, protocol.RetryNever, "safety barrier"},
		{"anything else", 70, "java.lang.NoClassDefFoundError: com/google/gson/Gson" + stack,
			protocol.ErrNetwork, protocol.RetryPolicy, "java.lang.NoClassDefFoundError: com/google/gson/Gson"},
		{"a URL in the text", 70, "java.lang.IllegalStateException: no route to dubbo://10.0.0.1:20880/x?token=hunter2&b=1 today" + stack,
			protocol.ErrNetwork, protocol.RetryPolicy, "no route to dubbo://10.0.0.1:20880/x?… today"},
		{"a URL in the cause", 70, "java.lang.RuntimeException: a, cause: b dubbo://10.0.0.1:20880/x?token=hunter2" + stack,
			protocol.ErrNetwork, protocol.RetryPolicy, "b dubbo://10.0.0.1:20880/x?…"},
		{"dispatch", 80, "org.apache.dubbo.remoting.ExecutionException: boom", protocol.ErrNetwork, protocol.RetryAlways, "80 SERVER_ERROR"},
		{"pool, 3.x", 100, "Server side(10.0.0.1,20880) thread pool is exhausted, detail msg:Thread pool is EXHAUSTED! Thread Name: x" + stack,
			protocol.ErrLimitExceeded, protocol.RetryAlways, "thread pool is exhausted"},
		{"not of a provider", 31, "x", protocol.ErrNetwork, protocol.RetryPolicy, "31 SERVER_TIMEOUT: x"},
		{"unknown", 7, "", protocol.ErrNetwork, protocol.RetryPolicy, "status 7: no text"},
		{"long", 80, strings.Repeat("é", 5000), protocol.ErrNetwork, protocol.RetryAlways, "é…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failWith(t, invocation("x"), func(id uint64) []byte { return statusAnswer(id, c.status, c.text) })
			assert.ErrorIs(t, e, c.code)
			assert.Equal(t, c.retry, e.Retry)
			assert.Contains(t, e.Detail, c.detail)
			assert.NotContains(t, e.Error(), "hunter2")
			assert.Less(t, len(e.Error()), 2*maxText)
		})
	}
}

// No error repeats the token that was sent, whatever the provider does with it.
func TestTokenIsMasked(t *testing.T) {
	const token = "c0ffee-hunter2"
	refused := "Invalid token! Forbid invoke remote service, consumer incorrect token is "
	for name, reply := range map[string]func(id uint64) []byte{
		"refusal":     func(id uint64) []byte { return statusAnswer(id, 70, "RpcException: "+refused+token+stack) },
		"bad request": func(id uint64) []byte { return statusAnswer(id, 40, refused+token) },
		"bad response": func(id uint64) []byte {
			return statusAnswer(id, 50, "Failed to send response: Response [result=AppResponse [value=null, exception=com.x.E: "+refused+token+"]], cause: x")
		},
		"exception":        func(id uint64) []byte { return answer(id, append([]byte{0x90}, encoded(refused+token)...)) },
		"cut by the bound": func(id uint64) []byte { return statusAnswer(id, 80, strings.Repeat("x", maxText-8)+token) },
	} {
		t.Run(name, func(t *testing.T) {
			own := invocation("x")
			own.Attach("token", token)
			for _, e := range []*protocol.Error{
				failWith(t, invocation("x"), reply, "token", token),
				failWith(t, own, reply, "token", "other"),
			} {
				assert.NotContains(t, e.Error(), "c0ffee")
				assert.Contains(t, e.Error(), "***")
				if name == "refusal" {
					assert.ErrorIs(t, e, protocol.ErrForbidden)
				}
			}
		})
	}
}

// Whatever a provider writes, an error holds one line of bounded length.
func FuzzEssence(f *testing.F) {
	f.Add("org.apache.dubbo.rpc.RpcException: a, cause: b dubbo://h:1/x?token=hunter2" + stack)
	f.Add("Failed to send response: Response [a]], cause: \r\n")
	f.Add("Not found exported service: " + strings.Repeat("é", 3000))
	f.Fuzz(func(t *testing.T, text string) {
		got := essence(text)
		if len(got) > maxList+len("…") || strings.ContainsFunc(got, unicode.IsControl) {
			t.Fatalf("%q becomes %q", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q is cut within a character: %q", text, got)
		}
	})
}

// The text of an error may be null, of another serialization, or unreadable: the
// status alone decides then.
func TestStatusWithoutReadableText(t *testing.T) {
	text := "no text"
	for name, reply := range map[string]func(id uint64) []byte{
		"null":            func(id uint64) []byte { return answerAs(id, frame.Hessian2, 80, []byte("N")) },
		"no body":         func(id uint64) []byte { return answerAs(id, frame.Hessian2, 80, nil) },
		"unknown dialect": func(id uint64) []byte { return answerAs(id, 22, 80, []byte{1, 2, 3}) },
		"garbage":         func(id uint64) []byte { return answerAs(id, frame.Hessian2, 80, []byte("H")) },
	} {
		e := failWith(t, invocation("x"), reply)
		assert.ErrorIs(t, e, protocol.ErrNetwork, name)
		assert.Equal(t, protocol.RetryAlways, e.Retry, name)
		if name == "null" {
			assert.Contains(t, e.Detail, text)
		}
	}
}

// Status 50 names the exception that could not be sent: it is the method's own.
func TestUnsendableExceptionIsTheMethodsOwn(t *testing.T) {
	for _, c := range []struct{ name, text, class, message string }{
		{"3.x", "Failed to send response: Response [id=77, version=2.0.2, status=20, event=false, error=null, result=AppResponse [value=null, exception=java.lang.ArithmeticException: / by zero]], cause: java.io.IOException: not allowed" + stack,
			"java.lang.ArithmeticException", "/ by zero"},
		{"2.6", "Failed to send response: Response [id=77, result=RpcResult [result=null, exception=com.x.BizException: a: b, c]], cause: java.lang.IllegalStateException: x" + stack,
			"com.x.BizException", "a: b, c"},
		{"no message", "Failed to send response: Response [result=AppResponse [value=null, exception=java.lang.Error]], cause: x",
			"java.lang.Error", ""},
		{"brackets and lines in the message", "Failed to send response: Response [result=AppResponse [value=null, exception=com.x.E: [[a]]\nb]], cause: x",
			"com.x.E", "[[a]]\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failWith(t, invocation("x"), func(id uint64) []byte { return statusAnswer(id, 50, c.text) })
			assert.ErrorIs(t, e, protocol.ErrBusiness)
			assert.Equal(t, protocol.RetryNever, e.Retry)
			var remote *protocol.RemoteError
			require.True(t, errors.As(e, &remote))
			assert.Equal(t, c.class, remote.Class)
			assert.Equal(t, c.message, remote.Message)
		})
	}
}

// The text of status 40 says nothing, so the error lists what was sent, and what
// may be wrong with it.
func TestBadRequestListsWhatWasSent(t *testing.T) {
	m := *echoMethod
	m.Inferred = true
	inv := invocation(int64(7))
	inv.Method = &m
	reply := func(id uint64) []byte { return statusAnswer(id, 40, "Fail to decode request due to: RpcInvocation") }
	e := failWith(t, inv, reply, "version", "1.2.3", "serialization", "fastjson2")
	for _, want := range []string{
		`interface "` + demo + `"`, `version "1.2.3"`, `method "echo"`, `"Ljava/lang/String;"`, "(int64)",
		"inferred", `"echo(java.lang.String)"`, "serialization=fastjson2", "hessian2",
	} {
		assert.Contains(t, e.Detail, want)
	}
	assert.NotContains(t, failWith(t, invocation("x"), reply).Detail, "inferred")
}

// Dubbo 2.6 answers an unknown method with status 70: the hint is the same.
func TestUnknownInferredMethodOf26(t *testing.T) {
	m := *echoMethod
	m.Inferred = true
	inv := invocation(int64(7))
	inv.Method = &m
	e := failWith(t, inv, func(id uint64) []byte {
		return statusAnswer(id, 70, `com.alibaba.dubbo.rpc.RpcException: Failed to invoke remote proxy method echo to dubbo://10.0.0.1:20880/x, cause: Not found method "echo" in class x.`)
	})
	assert.Contains(t, e.Detail, `"echo(java.lang.String)"`)
}

// A provider that is shutting down withdraws its services before it closes the
// connection: then another one may know them.
func TestBadRequestFromAProviderThatShutsDown(t *testing.T) {
	bubble(t, func(c *peerConn, f received) {
		c.send(event(frame.Hessian2, "\x01R"), statusAnswer(f.head.ID, 40, "x"))
	}, func(t *testing.T, p *peer, d *Protocol) {
		_, err := invoke(t.Context(), refer(t, d, p.address), invocation("x"))
		assert.Equal(t, protocol.RetryAlways, failure(t, err).Retry)
	})
}

// B111: an answer that cannot be decoded fails its call at once, with the
// place; the connection and the other calls go on.
func TestB111UndecodableAnswer(t *testing.T) {
	bodies := map[string][]byte{
		"undefined class":   {0x91, 0x65},
		"empty":             {},
		"unknown kind":      {0x96},
		"no kind":           []byte("N"),
		"truncated text":    {0x91, 0x05, 'a'},
		"truncated tail":    {0x94},
		"exception cut off": {0x90},
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *peerConn, f received) {
				if f.call(c.p.t).args[0] == "bad" {
					c.send(answer(f.head.ID, body))
					return
				}
				echo(c, f)
			}, func(t *testing.T, p *peer, d *Protocol) {
				e := refer(t, d, p.address)
				took := elapsed(func() {
					_, err := invoke(t.Context(), e, invocation("bad"))
					f := failure(t, err)
					assert.ErrorIs(t, err, protocol.ErrSerialization)
					assert.Equal(t, protocol.RetryNever, f.Retry, "it has been executed")
					assert.True(t, f.Sent)
					assert.Contains(t, err.Error(), demo+".echo at "+p.address)
					if name == "unknown kind" {
						assert.Contains(t, err.Error(), "6") // B105
					}
				})
				assert.Zero(t, took)
				v, err := invoke(t.Context(), e, invocation("good"))
				assert.NoError(t, err)
				assert.Equal(t, "good", v)
				assert.EqualValues(t, 1, p.accepted.Load())
			})
		})
	}
}

// B189: bytes that would make a decoder panic, every prefix of a good answer, and
// random changes of it: a value or a decode error, never the end of the connection
// or of the process.
func TestB189HostileAnswers(t *testing.T) {
	bodies := [][]byte{
		{0x91, 0x48},
		append([]byte{0x91, 0x71, 0x07}, "com.x.P\x91"...),
		append([]byte{0x91, 0x71, 0x04}, "[int\x01a"...),
		{0x91, 0x48, 0x78, 0x91, 0x5a},
	}
	good := value([]any{"text", int32(7), map[any]any{"k": []string{"a", "b"}}, 1.25, time.Unix(1, 0)})
	for n := range good {
		bodies = append(bodies, good[:n])
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := slices.Clone(good)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		bodies = append(bodies, b)
	}
	bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
		next := 0
		p.handle = func(c *peerConn, f received) {
			next++
			c.send(answer(f.head.ID, bodies[next-1]))
		}
		e := refer(t, d, p.address)
		var failed int
		for i, b := range bodies {
			if _, err := invoke(t.Context(), e, invocation("x")); err != nil {
				failed++
				code := failure(t, err).Code
				assert.True(t, code == protocol.ErrSerialization || code == protocol.ErrBusiness, "answer %d, %x: %v", i, b, err)
			}
		}
		assert.Greater(t, failed, len(good)/2)
		assert.Equal(t, len(bodies), next)
		assert.EqualValues(t, 1, p.accepted.Load())
		assert.Zero(t, only(t, d).InFlight)
	})
}

// B115: whatever a provider's URL says about serialization, hessian2 is sent; an
// answer in another one is an error of that call.
func TestB115Serialization(t *testing.T) {
	for _, params := range [][]string{
		{"prefer.serialization", "fastjson2,hessian2"},
		{"serialization", "fastjson2"},
		{"prefer.serialization", "fastjson2"},
		nil,
	} {
		bubble(t, nil, func(t *testing.T, p *peer, d *Protocol) {
			flags := make(chan byte, 10)
			p.handle = func(c *peerConn, f received) {
				flags <- f.raw[2]
				if f.call(t).args[0] == "23" {
					c.send(answerAs(f.head.ID, frame.Fastjson2, frame.OK, value("x")))
					return
				}
				echo(c, f)
			}
			e := refer(t, d, p.address, params...)
			_, err := invoke(t.Context(), e, invocation("x"))
			assert.NoError(t, err)
			assert.EqualValues(t, 0xc2, <-flags)
			_, err = invoke(t.Context(), e, invocation("23"))
			f := failure(t, err)
			assert.ErrorIs(t, err, protocol.ErrSerialization)
			assert.Equal(t, protocol.RetryNever, f.Retry)
			assert.Contains(t, f.Detail, "serialization 23")
			_, err = invoke(t.Context(), e, invocation("x"))
			assert.NoError(t, err)
			synctest.Wait()
			assert.EqualValues(t, 1, p.accepted.Load())
		})
	}
}
