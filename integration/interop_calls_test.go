//go:build integration

package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/interop"
)

func modern(version string) bool { return strings.HasPrefix(version, "3.3") }

// TestDeclaredException expects an exception of the signature with its fields and cause.
func TestDeclaredException(t *testing.T) {
	const method = "findOrder(long)"
	eachVersion(t, "timeout=5000", func(t *testing.T, version string, r *gofer.Reference) {
		found, err := gofer.Call[*interop.Order](t.Context(), r, method, int64(5))
		record(method, version, err)
		require.NoError(t, err)
		assert.EqualValues(t, 5, found.ID)
		assert.Equal(t, "Springfield", found.Customer.Address.City)
		assert.Equal(t, interop.Green, *found.Color)
		assert.Equal(t, "12.50", found.Total.String())

		_, err = gofer.Call[*interop.Order](t.Context(), r, method, int64(-1))
		var remote *gofer.RemoteError
		require.ErrorAs(t, err, &remote)
		assert.ErrorIs(t, err, gofer.ErrBusiness)
		assert.Equal(t, "org.gofer.interop.OrderException", remote.Class)
		assert.Equal(t, "no order -1", remote.Message)
		assert.EqualValues(t, 404, remote.Fields["code"])
		assert.EqualValues(t, -1, remote.Fields["orderId"])
		assert.Equal(t, []any{"unknown", "never was"}, remote.Fields["reasons"])
		require.NotNil(t, remote.Cause)
		assert.Equal(t, "java.lang.IllegalArgumentException", remote.Cause.Class)
		assert.Equal(t, "id -1", remote.Cause.Message)
		assert.NotEmpty(t, remote.Stack)
		var e *gofer.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 1, e.Attempts, "a business exception is not retried")
	})
}

// TestUndeclaredExceptions expects the class and message of whatever a method
// throws, also where the provider cannot send the object (status 50).
func TestUndeclaredExceptions(t *testing.T) {
	const method = "raise(java.lang.String)"
	kinds := map[string]string{
		"unlisted": "org.gofer.interop.UnlistedException", "state": "java.lang.IllegalStateException",
		"caused": "java.lang.IllegalStateException", "argument": "java.lang.IllegalArgumentException",
		"arithmetic": "java.lang.ArithmeticException", "null": "java.lang.NullPointerException",
		"unsupported": "java.lang.UnsupportedOperationException", "overflow": "java.lang.StackOverflowError",
		"error": "java.lang.Error",
	}
	eachVersion(t, "timeout=5000", func(t *testing.T, version string, r *gofer.Reference) {
		for kind, class := range kinds {
			_, err := gofer.Call[string](t.Context(), r, method, kind)
			var remote *gofer.RemoteError
			if !assert.ErrorAs(t, err, &remote, "%s", kind) {
				record(method, version, err)
				continue
			}
			var e *gofer.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, class, remote.Class, kind)
			assert.Equal(t, "raised "+kind, remote.Message, kind)
			assert.Equal(t, 1, e.Attempts, "%s is retried", kind)
			assert.True(t, e.Sent)
			if kind == "unlisted" && !modern(version) {
				assert.EqualValues(t, 7, remote.Fields["code"])
			}
			if kind == "caused" && !modern(version) {
				require.NotNil(t, remote.Cause)
				assert.Equal(t, "java.io.IOException", remote.Cause.Class)
			}
		}
		_, err := gofer.Call[string](t.Context(), r, method, "foreign")
		var remote *gofer.RemoteError
		require.ErrorAs(t, err, &remote)
		assert.Equal(t, "java.lang.RuntimeException", remote.Class, "the provider wraps what is in nobody's reach")
		assert.Contains(t, remote.Message, "raised foreign")
		record(method, version, nil)
	})
}

// TestUnsendable: Optional cannot be serialized; the call was executed and fails clearly.
func TestUnsendable(t *testing.T) {
	const method = "optional(java.lang.String)"
	eachVersion(t, "timeout=5000", func(t *testing.T, version string, r *gofer.Reference) {
		_, err := gofer.Call[any](t.Context(), r, method, "x")
		var e *gofer.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 1, e.Attempts)
		assert.True(t, e.Sent)
		assert.Contains(t, err.Error(), "Optional")
		record(method, version, nil)
	})
}

func TestFutures(t *testing.T) {
	eachVersion(t, "timeout=5000", func(t *testing.T, version string, r *gofer.Reference) {
		s, err := gofer.Call[string](t.Context(), r, "future(java.lang.String,long)", "later", int64(50))
		if version < "2.7" { // 2.6 has no asynchronous methods and cannot send a CompletableFuture
			var e *gofer.Error
			require.ErrorAs(t, err, &e)
			assert.Contains(t, err.Error(), "CompletableFuture")
			env.Table.Record("future", version, "n/a")
			return
		}
		record("future", version, err)
		require.NoError(t, err)
		assert.Equal(t, "later", s)
		_, err = gofer.Call[string](t.Context(), r, "failedFuture(java.lang.String)", "broken")
		var remote *gofer.RemoteError
		require.ErrorAs(t, err, &remote)
		assert.Equal(t, "java.lang.IllegalStateException", remote.Class)
		assert.Equal(t, "broken", remote.Message)
		record("failedFuture", version, nil)
	})
}

func TestTimeoutCancelAndLateAnswers(t *testing.T) {
	eachVersion(t, "timeout=5000&retries=0&slow.timeout=200", func(t *testing.T, version string, r *gofer.Reference) {
		began := time.Now()
		_, err := gofer.Call[int64](t.Context(), r, "slow(long)", int64(600))
		var e *gofer.Error
		require.ErrorAs(t, err, &e)
		assert.ErrorIs(t, err, gofer.ErrTimeout)
		assert.True(t, e.Sent)
		assert.InDelta(t, 200, time.Since(began).Milliseconds(), 150, "the method's own timeout")

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err = gofer.Call[int64](ctx, r, "slow(long)", int64(500))
		assert.ErrorIs(t, err, gofer.ErrCanceled)
		assert.ErrorIs(t, err, context.Canceled)

		n, err := gofer.Call[int64](gofer.WithTimeout(t.Context(), 3*time.Second), r, "slow(long)", int64(300))
		record("slow", version, err)
		require.NoError(t, err, "the call's own timeout goes first")
		assert.EqualValues(t, 300, n)
		// The late answers of the first two calls have come by now; nobody is confused.
		s, err := gofer.Call[string](t.Context(), r, "echoString(java.lang.String)", "after")
		require.NoError(t, err)
		assert.Equal(t, "after", s)
		for _, p := range r.Snapshot().Providers {
			for _, m := range p.Methods {
				assert.Zero(t, m.Active, "%s at %s", m.Name, p.Address)
			}
		}
	})
}

func TestAttachmentsBothWays(t *testing.T) {
	const method = "attachments(java.util.Map)"
	eachVersion(t, "timeout=5000", func(t *testing.T, version string, r *gofer.Reference) {
		ctx, reply := gofer.WithReply(gofer.WithTag(gofer.WithAttachment(t.Context(), "trace", "abc"), "gray"))
		got, err := gofer.Call[map[string]string](ctx, r, method, map[string]string{"shard": "7"})
		record(method, version, err)
		require.NoError(t, err)
		assert.Equal(t, "abc", got["trace"])
		if version < "2.7" { // later ones hide it from the method
			assert.Equal(t, "gray", got["dubbo.tag"])
		}
		assert.Equal(t, "gofer-test", got["remote.application"])
		assert.Equal(t, "7", reply.Attachment("shard"))
		assert.Equal(t, "2.0.2", reply.Attachment("dubbo"))
		assert.Contains(t, reply.Provider(), ":")

		got, err = gofer.Call[map[string]string](t.Context(), r, method, map[string]string{})
		require.NoError(t, err)
		assert.NotContains(t, got, "trace", "an attachment leaks into the next call")
	})
}

func TestFailEveryN(t *testing.T) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			p := env.StartProvider(t, v, "--group", "failing-"+v)
			r := refer(t, c, p.Reference("timeout=5000"))
			failures := 0
			for i := range 9 {
				n, err := gofer.Call[int64](t.Context(), r, "failEvery(int)", int32(3))
				var remote *gofer.RemoteError
				if errors.As(err, &remote) {
					failures++
					assert.Equal(t, "java.lang.IllegalStateException", remote.Class)
					continue
				}
				require.NoError(t, err)
				assert.EqualValues(t, i+1, n)
			}
			assert.Equal(t, 3, failures)
			who, err := gofer.Call[*interop.ProviderInfo](t.Context(), r, "whoAmI()")
			require.NoError(t, err)
			assert.Equal(t, p.Name, who.Name)
			assert.Equal(t, v, who.Dubbo)
			assert.EqualValues(t, 9, who.Calls, "business exceptions are not retried")
			assert.EqualValues(t, 1, who.Peak)
			record("failEvery", v, nil)
			record("whoAmI", v, nil)
		})
	}
}

func TestGenericCalls(t *testing.T) {
	eachVersion(t, "timeout=5000", func(t *testing.T, version string, r *gofer.Reference) {
		s, err := r.Generic(t.Context(), "hello(java.lang.String)", "Ada")
		record("$invoke", version, err)
		require.NoError(t, err)
		assert.Equal(t, "hello Ada from shared-"+version, s)

		v, err := r.Generic(t.Context(), "findOrder", int64(3)) // by name alone
		require.NoError(t, err)
		found, ok := v.(map[string]any)
		require.True(t, ok, "%T", v)
		assert.Equal(t, "org.gofer.interop.Order", found["class"])
		assert.EqualValues(t, 3, found["id"])
		assert.Equal(t, "GREEN", found["color"])

		v, err = r.Generic(t.Context(), "echoItem(org.gofer.interop.Item)", map[string]any{"class": "org.gofer.interop.Item", "sku": "s", "quantity": int32(2)})
		require.NoError(t, err)
		assert.Equal(t, "s", v.(map[string]any)["sku"])

		v, err = r.Generic(t.Context(), "overload()")
		require.NoError(t, err)
		assert.Equal(t, "overload()", v)

		_, err = r.Generic(t.Context(), "findOrder(long)", int64(-1))
		var remote *gofer.RemoteError
		require.ErrorAs(t, err, &remote)
		assert.Equal(t, "org.gofer.interop.OrderException", remote.Class)
		assert.Contains(t, remote.Message, "no order -1")
	})
}

// TestOneWay: return=false does not wait for an answer.
func TestOneWay(t *testing.T) {
	eachVersion(t, "timeout=5000&store.return=false", func(t *testing.T, version string, r *gofer.Reference) {
		key := "oneway-" + version
		_, err := gofer.Call[struct{}](t.Context(), r, "store(java.lang.String,java.lang.String)", key, "sent")
		require.NoError(t, err)
		eventually(t, 5*time.Second, "the provider got the one-way call", func() bool {
			s, err := gofer.Call[*string](t.Context(), r, "load(java.lang.String)", key)
			return err == nil && s != nil && *s == "sent"
		})
		record("one-way", version, nil)
	})
}

// TestRefusals: what providers refuse is a clear error of the right kind.
func TestRefusals(t *testing.T) {
	c := newClient(t, env.ZooKeeper.Addr())
	for _, v := range env.Versions() {
		t.Run(v, func(t *testing.T) {
			p := env.StartProvider(t, v, "--group", "strict-"+v, "--token", "s3cret", "--executes", "1", "--payload", "100000")
			r := refer(t, c, p.Reference("timeout=3000&retries=0"))
			_, err := gofer.Call[string](t.Context(), r, "hello(java.lang.String)", "Ada")
			require.NoError(t, err, "the token of the provider's URL is sent")
			record("token", v, nil)

			direct := refer(t, c, p.Direct("token=wrong", "timeout=3000"))
			_, err = gofer.Call[string](t.Context(), direct, "hello(java.lang.String)", "Ada")
			assert.ErrorIs(t, err, gofer.ErrForbidden)
			assert.NotContains(t, err.Error(), "s3cret")

			_, err = gofer.Call[string](t.Context(), r, "hello(java.lang.String)", strings.Repeat("x", 100_000))
			var e *gofer.Error
			require.ErrorAs(t, err, &e)
			assert.False(t, e.Sent, "checked before writing")
			assert.Contains(t, err.Error(), "100000")
			record("payload", v, nil)

			executes(t, r)
			record("executes", v, nil)

			_, err = gofer.Call[string](t.Context(), r, "hello(int)", int32(1))
			require.Error(t, err)
			assert.Contains(t, err.Error(), "hello", "what was sent")
			_, err = gofer.Call[string](t.Context(), r, "noSuchMethod", "x")
			require.Error(t, err)
			assert.Contains(t, err.Error(), "inferred")
		})
	}
}

// executes makes calls at the same time at a provider that allows one: some are
// refused, as a limit.
func executes(t *testing.T, r *gofer.Reference) {
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() {
			_, err := gofer.Call[int64](context.Background(), r, "slow(long)", int64(1000))
			errs <- err
		}()
	}
	served, refused := 0, 0
	for range cap(errs) {
		if err := <-errs; err == nil {
			served++
		} else {
			refused++
			assert.ErrorIs(t, err, gofer.ErrLimitExceeded)
		}
	}
	assert.Positive(t, served)
	assert.Positive(t, refused)
}
