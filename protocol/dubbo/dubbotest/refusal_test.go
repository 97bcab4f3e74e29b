package dubbotest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// refusals are requests that cannot be served, and what each release line answers:
// status and the beginning of the text. "" is no answer.
var refusals = []struct {
	name    string
	request request
	answers [4]string // 2.6, 2.7, 3.2, 3.3
}{
	{
		"method", request{method: "nope", desc: "I", args: []any{int32(1)}},
		[4]string{
			"70 com.alibaba.dubbo.rpc.RpcException: Failed to invoke remote proxy method nope to dubbo://",
			"40 Fail to decode request due to: java.lang.IllegalArgumentException: Service not found:com.demo.Greet, nope",
			"40 Fail to decode request due to: RpcInvocation [methodName=nope, parameterTypes=null]",
			"40 Fail to decode request due to: RpcInvocation [methodName=nope, parameterTypes=null]",
		},
	},
	{
		"overload", request{method: "hello", desc: "II", args: []any{int32(1), int32(2)}},
		[4]string{"70 com.alibaba.dubbo.rpc.RpcException: Failed to invoke remote proxy method hello", "40 ", "40 ", "40 "},
	},
	{
		"method without a descriptor", request{method: "nope"},
		[4]string{
			"70 com.alibaba.dubbo.rpc.RpcException: Failed to invoke remote proxy method nope to dubbo://",
			"70 org.apache.dubbo.rpc.RpcException: Failed to invoke remote proxy method nope to dubbo://",
			"70 org.apache.dubbo.rpc.RpcException: Failed to invoke remote proxy method nope to dubbo://",
			"70 org.apache.dubbo.rpc.RpcException: Failed to invoke remote proxy method nope to dubbo://",
		},
	},
	{
		"interface", request{path: "com.demo.Other", method: "hello", desc: "Ljava/lang/String;", args: []any{"x"}},
		[4]string{
			"70 com.alibaba.dubbo.remoting.RemotingException: Not found exported service: g1/com.demo.Other:1.0.0:",
			"40 Fail to decode request due to: java.lang.IllegalArgumentException: Service not found:com.demo.Other, hello",
			"40 Fail to decode request due to: RpcInvocation [methodName=hello, parameterTypes=null]",
			"40 Fail to decode request due to: RpcInvocation [methodName=hello, parameterTypes=null]",
		},
	},
	{
		"version", request{version: "2.0.0", method: "hello", desc: "Ljava/lang/String;", args: []any{"x"}},
		[4]string{
			"70 com.alibaba.dubbo.remoting.RemotingException: Not found exported service: g1/com.demo.Greet:2.0.0:",
			"70 org.apache.dubbo.remoting.RemotingException: Not found exported service: g1/com.demo.Greet:2.0.0:",
			"40 ", "40 ",
		},
	},
	{
		"no version", request{version: "0.0.0", method: "hello", desc: "Ljava/lang/String;", args: []any{"x"}},
		[4]string{"70 ", "70 org.apache.dubbo.remoting.RemotingException: Not found exported service: g1/com.demo.Greet:", "40 ", "40 "},
	},
	{
		"group", request{method: "hello", desc: "Ljava/lang/String;", args: []any{"x"}, attachments: map[string]any{"group": "gX"}},
		[4]string{
			"70 com.alibaba.dubbo.remoting.RemotingException: Not found exported service: gX/com.demo.Greet:1.0.0:",
			"70 org.apache.dubbo.remoting.RemotingException: Not found exported service: gX/com.demo.Greet:1.0.0:",
			"70 org.apache.dubbo.remoting.RemotingException: Not found exported service: gX/com.demo.Greet:1.0.0:",
			"70 org.apache.dubbo.remoting.RemotingException: Not found exported service: gX/com.demo.Greet:1.0.0:",
		},
	},
	{
		"group missing", request{method: "hello", desc: "Ljava/lang/String;", args: []any{"x"}, attachments: map[string]any{"group": ""}},
		[4]string{"70 ", "70 org.apache.dubbo.remoting.RemotingException: Not found exported service: com.demo.Greet:1.0.0:", "70 ", "70 "},
	},
	{
		"too few arguments", request{method: "hello", desc: "Ljava/lang/String;"},
		[4]string{
			"40 Fail to decode request due to: RpcInvocation [methodName=hello, parameterTypes=[class java.lang.String], arguments=null, attachments={dubbo=2.0.2, input=",
			"40 Fail to decode request due to: com.alibaba.com.caucho.hessian.io.HessianProtocolException: ",
			"40 Fail to decode request due to: RpcInvocation [methodName=hello, parameterTypes=null]",
			"40 Fail to decode request due to: RpcInvocation [methodName=hello, parameterTypes=null]",
		},
	},
	{"serialization", request{serialization: 8, body: []byte("kryo")}, [4]string{"40 ", "40 ", "", ""}},
	{
		"broken body", request{body: []byte{5, '2', '.'}},
		[4]string{
			"40 Fail to decode request due to: RpcInvocation [methodName=null, parameterTypes=null, arguments=null, attachments={input=",
			"40 Fail to decode request due to: com.alibaba.com.caucho.hessian.io.HessianProtocolException: ",
			"", "",
		},
	},
	{
		"unknown method with too few arguments", request{method: "hello", desc: "II", args: []any{int32(1)}},
		[4]string{
			"40 Fail to decode request due to: RpcInvocation [methodName=hello, parameterTypes=[int, int], arguments=null, attachments={",
			"40 Fail to decode request due to: java.lang.IllegalArgumentException: Service not found:com.demo.Greet, hello", "40 ", "40 ",
		},
	},
	{
		"no such generic method", request{method: "$invoke", desc: "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", args: []any{"nope", []string{"int"}, []any{int32(1)}}},
		[4]string{
			"70 com.alibaba.dubbo.rpc.RpcException: com.demo.Greet.nope(int)",
			"70 org.apache.dubbo.rpc.RpcException: com.demo.Greet.nope(int)",
			"70 org.apache.dubbo.rpc.RpcException: No such method nope in class interface com.demo.Greet",
			"70 org.apache.dubbo.rpc.RpcException: No such method nope in class interface com.demo.Greet",
		},
	},
	{
		"too few arguments of a generic call", request{method: "$invoke", desc: "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", args: []any{"hello", nil, []any{}}},
		[4]string{
			"70 java.lang.IllegalArgumentException: args.length != types.length",
			"70 org.apache.dubbo.rpc.RpcException: GenericFilter#invoke args.length != types.length, please check your params",
			"70 org.apache.dubbo.rpc.RpcException: GenericFilter#invoke args.length != types.length, please check your params",
			"70 org.apache.dubbo.rpc.RpcException: GenericFilter#invoke args.length != types.length, please check your params",
		},
	},
	{
		"wrong argument of a generic call", request{method: "$invoke", desc: "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", args: []any{"hello", nil, []any{[]any{}}}},
		[4]string{
			"70 java.lang.IllegalArgumentException: argument 1: ",
			"70 org.apache.dubbo.rpc.RpcException: java.lang.IllegalArgumentException: argument 1: ",
			"70 org.apache.dubbo.rpc.RpcException: java.lang.IllegalArgumentException: argument 1: ",
			"70 org.apache.dubbo.rpc.RpcException: java.lang.IllegalArgumentException: argument 1: ",
		},
	},
	{
		"not generic", request{method: "$invoke", desc: "Ljava/lang/String;", args: []any{"hello"}},
		[4]string{"70 ", "40 Fail to decode request due to: java.lang.IllegalArgumentException: Service not found:com.demo.Greet, $invoke", "40 ", "40 "},
	},
	{
		"asynchronous generic", request{method: "$invokeAsync", desc: "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;", args: []any{"hello", nil, []any{"x"}}},
		[4]string{"70 com.alibaba.dubbo.rpc.RpcException: Failed to invoke remote proxy method $invokeAsync", "20", "20", "20"},
	},
}

// TestRefusals goes through the table of what bad requests get.
func TestRefusals(t *testing.T) {
	for i, profile := range allProfiles {
		t.Run(profile.String(), func(t *testing.T) {
			p := startHello(t, dubbotest.WithProfile(profile))
			w := dial(t, p)
			refused := 0
			for n, c := range refusals {
				w.t = t
				want := c.answers[i]
				if want == "" {
					w.send(c.request.with(uint64(n)).bytes(t))
					w.heartbeat()
					refused++
					continue
				}
				got := w.call(c.request.with(uint64(n)))
				if want == "20" {
					assert.Equal(t, "hello x", got.result(t).Value, c.name)
					continue
				}
				refused++
				text := got.text(t)
				status, begin, _ := strings.Cut(want, " ")
				assert.Equal(t, status, strings.Fields(got.Status.String())[0], "%s: %s", c.name, text)
				assert.True(t, strings.HasPrefix(text, begin), "%s: %s", c.name, text)
				wantID := frame.Hessian2
				if profile == dubbotest.Dubbo32 {
					wantID = frame.Fastjson2
				}
				assert.Equal(t, wantID, got.Serialization, "%s: serialization of the text", c.name)
			}
			assert.Equal(t, "hello x", w.call(hello.with(99)).result(t).Value, "the connection lives")
			c := p.Counters()
			assert.Equal(t, len(refusals)+1, c.Calls)
			assert.Zero(t, c.InFlight)
		})
	}
}

func TestOneWayIsNeverAnswered(t *testing.T) {
	p := startHello(t)
	w := dial(t, p)
	for _, r := range []request{hello, {method: "nope"}, {body: []byte{1}}} {
		r.oneWay = true
		w.send(r.bytes(t))
	}
	require.NoError(t, p.Answer("hello", dubbotest.Value("v").Twice()))
	r := hello
	r.oneWay = true
	w.send(r.bytes(t))
	require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.Calls == 4 && c.InFlight == 0 }))
	w.heartbeat()
	assert.True(t, p.Calls()[0].OneWay)
	assert.Equal(t, byte(0x82), p.Calls()[0].Flags)
}

func TestToken(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0&token=s3cret", dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("hello(java.lang.String)", func(s string) string { return s }))
		w := dial(t, p)
		bad := w.call(hello.with(1))
		assert.EqualValues(t, 70, bad.Status)
		text := bad.text(t)
		assert.Contains(t, text, ".rpc.RpcException: Invalid token! Forbid invoke remote service interface com.demo.Greet method hello() from consumer 127.0.0.1 to provider 127.0.0.1")
		assert.Equal(t, profile != dubbotest.Dubbo26, strings.Contains(text, "consumer incorrect token is null"))
		good := hello.with(2)
		good.attachments = map[string]any{"token": "s3cret"}
		assert.Equal(t, "x", w.call(good).result(t).Value)
		echo := request{id: 3, method: "$echo", desc: "Ljava/lang/Object;", args: []any{int64(7)}}
		assert.Equal(t, int64(7), w.call(echo).result(t).Value, "echo does not look at tokens")
	})
}

func TestExecutesAndThreads(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0&hello.executes=2&threads=3", dubbotest.WithProfile(profile))
		gate := make(chan struct{})
		wait := func(string) { <-gate }
		require.NoError(t, p.Handle("hello(java.lang.String)", wait))
		require.NoError(t, p.Handle("other(java.lang.String)", wait))
		w := dial(t, p)
		other := hello
		other.method = "other"
		w.send(hello.with(1).bytes(t))
		w.send(hello.with(2).bytes(t))
		third := w.call(hello.with(3))
		assert.EqualValues(t, 70, third.Status)
		assert.Contains(t, third.text(t), `Failed to invoke method hello in provider dubbo://`)
		assert.Contains(t, third.text(t), `, cause: The service using threads greater than <dubbo:service executes="2" /> limited.`)
		w.send(other.with(4).bytes(t))
		fifth := w.call(other.with(5))
		assert.EqualValues(t, 100, fifth.Status)
		words := ") thread pool is exhausted, detail msg:Thread pool is EXHAUSTED!"
		if profile == dubbotest.Dubbo26 {
			words = ") threadpool is exhausted ,detail msg:Thread pool is EXHAUSTED!"
		}
		assert.Contains(t, fifth.text(t), "Server side(127.0.0.1,")
		assert.Contains(t, fifth.text(t), words)
		w.heartbeat()
		close(gate)
		for range 3 {
			assert.Equal(t, frame.OK, w.next().Status)
		}
		assert.Equal(t, dubbotest.Counters{Calls: 5, Peak: 3, Refused: 2, Connections: 1, Accepted: 1, Heartbeats: 1}, p.Counters())
		assert.Equal(t, frame.OK, w.call(hello.with(6)).Status)
	})
}

func TestPayload(t *testing.T) {
	big := hello
	big.args = []any{strings.Repeat("y", 4000)}
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		modern := profile == dubbotest.Dubbo32 || profile == dubbotest.Dubbo33
		p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0&payload=2000", dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("hello(java.lang.String)", func(s string) string { return strings.Repeat(s, 3000) }))
		w := dial(t, p)
		long := request{id: 9, method: strings.Repeat("n", 1000)} // twice in the text
		got := w.call(hello.with(1))
		want := frame.BadResponse
		if modern {
			want = frame.SerializationError
		}
		assert.Equal(t, want, got.Status)
		assert.Contains(t, got.text(t), "Data length too large: 3018, max payload: 2000, channel: NettyChannel [channel=[id: 0x")

		got = w.call(long)
		assert.Equal(t, want, got.Status, "error texts have the same limit")
		assert.Contains(t, got.text(t), "Data length too large: ")
		if modern {
			got = w.call(big.with(2))
			assert.EqualValues(t, 40, got.Status)
			assert.Contains(t, got.text(t), "RpcInvocation [methodName=null, parameterTypes=null]")
			w.heartbeat()
			return
		}
		w.send(big.with(2).bytes(t))
		w.send(frame.AppendHeartbeat(nil, 3))
		require.NoError(t, w.SetReadDeadline(aMoment()))
		_, err := w.r.ReadByte()
		assert.ErrorContains(t, err, "timeout", "the connection is deaf from then on, but open")
	})
	p := startHello(t, dubbotest.WithProfile(dubbotest.Dubbo33))
	big.args = []any{strings.Repeat("y", 9<<20)}
	assert.EqualValues(t, 25, dial(t, p).call(big).Status, "Dubbo 3 takes large requests and has a limit for answers")
}

func TestAccepts(t *testing.T) {
	p := dubbotest.Start(t, greet+"?group=g1&version=1.0.0&accepts=2")
	first, second := dial(t, p), dial(t, p)
	first.heartbeat()
	second.heartbeat()
	dial(t, p).ended()
	require.NoError(t, first.Close())
	require.NoError(t, p.Await(t.Context(), func(c dubbotest.Counters) bool { return c.Connections == 1 }))
	dial(t, p).heartbeat()
	second.heartbeat()
	assert.Equal(t, 3, p.Counters().Accepted)
}

func TestLimitMistakes(t *testing.T) {
	_, err := dubbotest.New(orders + "?threads=many&accepts=1.5&find.executes=x")
	require.Error(t, err)
	for _, w := range []string{"threads", "many", "accepts", "1.5", "find.executes"} {
		assert.ErrorContains(t, err, w)
	}
	for _, service := range []string{"", "?version=1", "a/b", "dubbo://1.2.3.4:20880/com.example.X"} {
		_, err := dubbotest.New(service)
		assert.ErrorContains(t, err, "com.example.OrderService?version=1.0.0", service)
	}
	synctest.Test(t, func(t *testing.T) {
		p, err := dubbotest.New(orders, dubbotest.InMemory(), dubbotest.WithAddr("no port"))
		assert.ErrorContains(t, err, "no port")
		assert.Nil(t, p)
	})
}
