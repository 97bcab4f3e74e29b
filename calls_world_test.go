package gofer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Whatever a test starts ends with its client and its providers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const demo = "com.example.DemoService"

// world is a client with a direct reference to in-process providers.
type world struct {
	t         testing.TB
	providers []*dubbotest.Provider
	client    *gofer.Client
	reference *gofer.Reference
	aside     sync.WaitGroup // calls besides the one that is looked at

	mu    sync.Mutex
	nodes map[*protocol.Node]bool // that calls went to
}

// newWorld starts n providers in memory, for a synctest bubble. own are the
// parameters of the providers, params those of the reference.
func newWorld(t testing.TB, n int, own, params string, opts ...gofer.Option) *world {
	t.Helper()
	w := &world{t: t, nodes: map[*protocol.Node]bool{}}
	if !strings.Contains(params, "reference.filter=") {
		params += "&reference.filter=watch"
	}
	for i := range n {
		w.providers = append(w.providers, startDemo(t, own,
			dubbotest.InMemory(), dubbotest.WithAddr(fmt.Sprintf("192.0.2.%d:20880", i+1))))
	}
	opts = append(opts, gofer.WithDialer(dubbotest.Dialer(w.providers...)), gofer.WithFilter("watch", w.watch))
	w.client = newClient(t, opts...)
	w.reference = refer(t, w.client, w.text(params))
	synctest.Wait() // Refer waits for the first connection, this for all
	return w
}

func startDemo(t testing.TB, own string, opts ...dubbotest.Option) *dubbotest.Provider {
	t.Helper()
	p := dubbotest.Start(t, demo+"?"+own, opts...)
	require.NoError(t, p.Handle("echo(java.lang.String)", func(s string) string { return s }))
	require.NoError(t, p.Handle("echo(java.lang.Object)", func(v any) any { return v }))
	require.NoError(t, p.Handle("add(int,long)", func(a int32, b int64) int64 { return int64(a) + b }))
	require.NoError(t, p.Handle("swallow(java.lang.String)", func(string) {}))
	return p
}

func newClient(t testing.TB, opts ...gofer.Option) *gofer.Client {
	t.Helper()
	c, err := gofer.New(append([]gofer.Option{gofer.WithApplication("shop-web")}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func refer(t testing.TB, c *gofer.Client, text string) *gofer.Reference {
	t.Helper()
	r, err := c.Refer(t.Context(), text)
	require.NoError(t, err)
	return r
}

// text is the reference to all providers.
func (w *world) text(params string) string {
	var urls []string
	for _, p := range w.providers {
		urls = append(urls, p.URL(params))
	}
	return strings.Join(urls, ";")
}

// provider is the only one.
func (w *world) provider() *dubbotest.Provider {
	w.t.Helper()
	require.Len(w.t, w.providers, 1)
	return w.providers[0]
}

// watch is a filter that notes which nodes calls go to.
func (w *world) watch(filter.Config) (filter.Pair, error) {
	return filter.Pair{Attempt: func(next protocol.Invoker) protocol.Invoker {
		return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			w.mu.Lock()
			w.nodes[inv.Node] = true
			w.mu.Unlock()
			return next.Invoke(ctx, inv)
		})
	}}, nil
}

// counted returns how many calls are counted as active, and how many as ended: what
// the client's snapshot says. A closed reference is in no snapshot: then it is what
// the nodes say that calls went to.
func (w *world) counted() (active int, total int64) {
	w.aside.Wait()
	references := w.client.Snapshot().References
	for _, r := range references {
		for _, p := range r.Providers {
			for _, m := range p.Methods {
				active += m.Active
				total += m.Total
			}
		}
	}
	if len(references) > 0 {
		return active, total
	}
	for n := range w.nodes {
		for _, s := range n.Life().Statuses {
			active += s.Active()
			total += s.Counters().Total
		}
	}
	return active, total
}

// stuff calls with so much that the connection to a frozen provider is full: what
// is sent next waits in the queue.
func (w *world) stuff() {
	w.provider().Freeze()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	w.beside(func() {
		_ = call(ctx, w, "swallow(java.lang.String)", strings.Repeat("x", 100_000))
	})
	time.AfterFunc(200*time.Millisecond, cancel)
}

// beside runs a call in a goroutine of its own until it can go no further.
func (w *world) beside(f func()) {
	w.aside.Go(f)
	synctest.Wait()
}

// call calls a method whose result does not matter.
func call(ctx context.Context, w *world, signature string, args ...any) error {
	_, err := gofer.Call[any](ctx, w.reference, signature, args...)
	return err
}

// echo is the call that most tests make.
func echo(ctx context.Context, w *world) error {
	s, err := gofer.Call[string](ctx, w.reference, "echo(java.lang.String)", "hi")
	if err == nil && s != "hi" && s != "late" && s != "" {
		return fmt.Errorf("echo is %q", s)
	}
	return err
}

func generic(ctx context.Context, w *world) error {
	_, err := w.reference.Generic(ctx, "echo(java.lang.String)", "hi")
	return err
}

// besides calls while another call is under way.
func besides(ctx context.Context, w *world) error {
	require.NoError(w.t, w.provider().Answer("echo", dubbotest.Value("hi").After(time.Hour)))
	held, cancel := context.WithCancel(ctx)
	defer cancel()
	w.beside(func() { assert.ErrorIs(w.t, echo(gofer.WithTimeout(held, time.Hour), w), gofer.ErrCanceled) })
	return echo(ctx, w)
}

// inLine calls while the only slot is taken, and does something a second later.
func inLine(do func(w *world, cancel func())) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		line, cancel := context.WithCancel(ctx)
		defer cancel()
		time.AfterFunc(time.Second, func() { do(w, cancel) })
		require.NoError(w.t, w.provider().Answer("echo", dubbotest.Value("hi").After(2*time.Second)))
		w.beside(func() { _ = echo(gofer.WithTimeout(ctx, time.Hour), w) })
		return echo(line, w)
	}
}

// meanwhile does something while the call is under way.
func meanwhile(do func(w *world)) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		ended := make(chan error)
		go func() { ended <- echo(ctx, w) }()
		synctest.Wait()
		do(w)
		return <-ended
	}
}

// canceledAfter cancels the call's context; before the call if d is negative.
func canceledAfter(d time.Duration) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if d < 0 {
			cancel()
		}
		time.AfterFunc(d, cancel)
		return echo(ctx, w)
	}
}

// canceledUnsent cancels a call that waits behind others for the socket.
func canceledUnsent(ctx context.Context, w *world) error {
	w.stuff()
	ctx, cancel := context.WithCancel(ctx)
	w.aside.Go(func() {
		synctest.Wait()
		cancel()
	})
	return echo(ctx, w)
}

func within(d time.Duration, f func(context.Context, *world) error) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return f(ctx, w)
	}
}

// thenWait waits after the call until so much time has passed.
func thenWait(d time.Duration) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		end := time.Now().Add(d)
		err := echo(ctx, w)
		time.Sleep(time.Until(end)) // of the bubble
		return err
	}
}

// rawBody answers with a body of these bytes.
func rawBody(body ...byte) dubbotest.Answer {
	return dubbotest.Raw(func(c *dubbotest.Call) []byte {
		f := []byte{0xda, 0xbb, 0x02, 20}
		for shift := 56; shift >= 0; shift -= 8 {
			f = append(f, byte(c.ID>>shift))
		}
		return append(append(f, 0, 0, 0, byte(len(body))), body...)
	})
}
