package suite

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

func TestMain(m *testing.M) {
	if err := gofer.Register(interop.Types()...); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// alike expects a fake world to be as it should and as the real one was.
func alike(t *testing.T, real, fake []Observation) {
	t.Helper()
	for _, o := range Wrong(fake) {
		t.Errorf("%s: %s: %s", o.Row, o.Step, o.Wrong)
	}
	for _, d := range Compare(real, fake) {
		t.Error(d)
	}
}

// TestProtocolOnFakes plays the protocol suite on dubbotest providers of every
// profile, and compares them with what Java's showed.
func TestProtocolOnFakes(t *testing.T) {
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			real, err := Recorded(Protocol, version)
			require.NoError(t, err)
			assert.Greater(t, len(real), 150)
			alike(t, real, NewFakes(t, version).Observe(t.Context()))
		})
	}
}

// TestRegistryOnFake plays the registry suite on zktest servers, and compares them with
// what a ZooKeeper showed.
func TestRegistryOnFake(t *testing.T) {
	real, err := Recorded(Registry, ZooKeeper)
	require.NoError(t, err)
	assert.Greater(t, len(real), 100)
	alike(t, real, ObserveRegistry(t, func(t *testing.T) Server { return NewFakeServer(t) }))
}

// TestWrongServers: what a server does otherwise than a ZooKeeper is found.
func TestWrongServers(t *testing.T) {
	recorded, err := Recorded(Registry, ZooKeeper)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		row, step, fact string
		spoil           func(s *zktest.Server)
	}{
		"a lost event":      {"watches", "created", "events", func(s *zktest.Server) { s.DropEvents(1) }},
		"another error":     {"requests", "delete what has children", "error", func(s *zktest.Server) { s.FailNext(zktest.OpDelete, "", zktest.NoAuth) }},
		"an error too many": {"requests", "create below what is not there", "error", func(s *zktest.Server) { s.FailNext(zktest.OpCreate, "", zktest.NodeExists) }},
		"another list":      {"malformed", "why", "registered", func(s *zktest.Server) { require.NoError(t, s.Create(malformedDir+"/x%3A%2F%2Fy", "")) }},
	} {
		t.Run(name, func(t *testing.T) {
			real := slices.DeleteFunc(slices.Clone(recorded), func(o Observation) bool { return o.Row != c.row })
			start := func(t *testing.T) Server {
				s := NewFakeServer(t)
				c.spoil(s.Server)
				return s
			}
			fake := ObserveRegistry(t, start, c.row)
			found := slices.ContainsFunc(Compare(real, fake), func(d Difference) bool { return d.Step == c.step && d.Fact == c.fact })
			assert.True(t, found)
		})
	}
}

const malformedDir = "/dubbo/com.example.suite.malformed/providers"

// TestWrongFakes: whatever a fake does otherwise than Java is found, where it is.
func TestWrongFakes(t *testing.T) {
	const version = "3.2.16"
	recorded, err := Recorded(Protocol, version)
	require.NoError(t, err)
	declared := &protocol.RemoteError{
		Class: "org.gofer.interop.OrderException", Message: "no order -1", Stack: []string{"org.gofer.A.b(A.java:1)"},
		Fields: map[string]any{"code": int32(404), "orderId": int64(-1), "reasons": []any{"unknown"}},
		Cause:  &protocol.RemoteError{Class: "java.lang.IllegalArgumentException", Message: "id -1"},
	}
	for name, c := range map[string]struct {
		row, fact string
		spoil     func(f *Fakes) error
	}{
		"another value":        {"echoInt", Value, answer("echoInt", dubbotest.Value(int32(48)))},
		"another type":         {"echoLong", Natural, answer("echoLong", dubbotest.Value(int32(42)))},
		"a list for an array":  {"echoInts", Natural, answer("echoInts", dubbotest.Value([]any{int32(1)}))},
		"an array for a list":  {"echoStringList", Natural, answer("echoStringList", dubbotest.Value([]string{"a", "b"}))},
		"null":                 {"echoItem", Value, answer("echoItem", dubbotest.Value(nil))},
		"another class":        {"failedFuture", Class, answer("failedFuture", dubbotest.Throw("java.lang.Error", "broken"))},
		"another message":      {"failedFuture", Message, answer("failedFuture", dubbotest.Throw("java.lang.IllegalStateException", "broke"))},
		"no stack trace":       {"failedFuture", Stack, answer("failedFuture", dubbotest.Throw("java.lang.IllegalStateException", "broken"))},
		"another field":        {"findOrder", Fields, answer("findOrder", dubbotest.Handler(), dubbotest.Exception(declared))},
		"no cause":             {"raise", Cause, answer("raise", dubbotest.Throw("java.lang.IllegalStateException", "raised caused"))},
		"another status":       {"hello", Code, answer("hello", dubbotest.Status(40, "no"))},
		"another text":         {"optional", Text, answer("optional", dubbotest.Status(50, "no"))},
		"a closed connection":  {"text", Code, answer("text", dubbotest.HangUp())},
		"attachments":          {"apply", Attachments, func(f *Fakes) error { return f.OpenProvider.SetAttachment("more", "1") }},
		"another function":     {"slow", Value, handle("slow(long)", func(int64) int64 { return 0 })},
		"forgetful":            {"load", Value, handle("store(java.lang.String,java.lang.String)", func(_, _ string) {})},
		"no overload":          {"overload", Value, handle("overload(long)", func(int64) string { return "overload(int)" })},
		"deaf to an exception": {"failEvery", Class, func(f *Fakes) error { return f.StrictProvider.AnswerAlways("failEvery", dubbotest.Value(int64(3))) }},
		"no such method":       {"sorted", Code, answer("sorted", dubbotest.Status(70, "org.apache.dubbo.rpc.RpcException: no"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := NewFakes(t, version)
			require.NoError(t, c.spoil(f))
			rows := []string{c.row, "store", "echoBoolean"} // one of them right, and what load needs
			var real []Observation
			for _, o := range recorded {
				if o.Row == c.row || o.Row == rows[1] || o.Row == rows[2] {
					real = append(real, o)
				}
			}
			facts := map[string]bool{}
			for _, d := range Compare(real, f.Observe(t.Context(), rows...)) {
				if d.Row == c.row {
					facts[d.Fact] = true
				} else {
					assert.Equal(t, Attachments, c.fact, "only attachments are wrong elsewhere: %s", d)
				}
			}
			assert.True(t, facts[c.fact], "%v", facts)
		})
	}
}

// answer scripts a method: the last answer is for all calls behind the others.
func answer(method string, answers ...dubbotest.Answer) func(*Fakes) error {
	return func(f *Fakes) error {
		last := len(answers) - 1
		return errors.Join(f.OpenProvider.Answer(method, answers[:last]...), f.OpenProvider.AnswerAlways(method, answers[last]))
	}
}

func handle(signature string, function any) func(*Fakes) error {
	return func(f *Fakes) error { return f.OpenProvider.Handle(signature, function) }
}

// TestWrongProfile: the release lines differ, and one cannot stand for another.
func TestWrongProfile(t *testing.T) {
	fake := NewFakes(t, "2.7.23").Observe(t.Context(), "raise", "optional", "attachments", "unknown")
	for other, rows := range map[string][]string{
		"2.6.12": {"attachments", "unknown"}, "3.2.16": {"optional", "unknown"}, "3.3.6": {"raise", "optional", "unknown"},
	} {
		real, err := Recorded(Protocol, other)
		require.NoError(t, err)
		different := map[string]bool{}
		for _, d := range Compare(real, fake) {
			different[d.Row] = true
		}
		for _, row := range rows {
			assert.True(t, different[row], "%s in %s", row, other)
		}
	}
}
