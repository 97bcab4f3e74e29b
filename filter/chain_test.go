package filter_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// reference returns a reference URL with the given parameters.
func reference(t require.TestingT, parameters string) url.URL {
	u, err := url.Parse("consumer://192.0.2.1/com.example.DemoService?interface=com.example.DemoService&" + parameters)
	require.NoError(t, err)
	return u
}

// trace is a factory of filters that note when they are passed.
func trace(log *[]string, name string) filter.Factory {
	note := func(level string) filter.Filter {
		return func(next protocol.Invoker) protocol.Invoker {
			return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
				*log = append(*log, name+level)
				return next.Invoke(ctx, inv)
			})
		}
	}
	return func(filter.Config) (filter.Pair, error) {
		return filter.Pair{Call: note(" call"), Attempt: note(" attempt")}, nil
	}
}

func TestChainSyntax(t *testing.T) {
	factories := filter.Builtin()
	for _, name := range []string{"a", "b", "c"} {
		factories[name] = trace(new([]string), name)
	}
	for text, want := range map[string]string{
		"":                          "consumercontext",
		"a":                         "consumercontext a",
		"a,b":                       "consumercontext a b",
		"b,a":                       "consumercontext b a",
		"a,default,b":               "a consumercontext b",
		"default,a":                 "consumercontext a",
		"a,default":                 "a consumercontext",
		" a , b ,, c ":              "consumercontext a b c",
		"-consumercontext":          "",
		"-consumercontext,a":        "a",
		"a,-consumercontext":        "a",
		"-default":                  "",
		"-default,a":                "a",
		"a,-default,b":              "a b",
		"-default,consumercontext":  "consumercontext",
		"a,consumercontext":         "a consumercontext", // named: placed by the list
		"a,a":                       "consumercontext a",
		"a,b,-a":                    "consumercontext b",
		"-a":                        "consumercontext",
		"activelimit":               "consumercontext", // is there anyway
		"a,active-limit,b":          "consumercontext a b",
		"default,default":           "consumercontext",
		"-default,default":          "",
		"consumercontext,default,a": "consumercontext a",
	} {
		chain, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter="+text)}, factories)
		if assert.NoError(t, err, "%q", text) {
			assert.Equal(t, strings.Fields(want+" activelimit"), chain.Names(), "%q", text)
		}
	}
}

func TestChainErrors(t *testing.T) {
	factories := filter.Builtin()
	factories["broken"] = func(filter.Config) (filter.Pair, error) {
		return filter.Pair{}, errors.New("parameter x=7: must be even")
	}
	for text, want := range map[string]string{
		"consumercontxt":  `parameter reference.filter="consumercontxt": unknown filter "consumercontxt", did you mean "consumercontext"? (known: broken, consumercontext)`,
		"a,-monitor":      `parameter reference.filter="a,-monitor": unknown filter "a" (known: broken, consumercontext)`,
		"-monitor":        `parameter reference.filter="-monitor": unknown filter "monitor" (known: broken, consumercontext)`,
		"--default":       `unknown filter "-default"`,
		"broken":          `filter "broken": parameter x=7: must be even`,
		"-activelimit":    `"activelimit" cannot be taken out, it counts the calls that balancers look at; actives=0, the default, means no limit`,
		"a,-active-limit": `unknown filter "a"`,
		"-active-limit,a": `"active-limit" cannot be taken out`,
	} {
		_, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter="+text)}, factories)
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

// Whatever the text, the chain is made or the error names the parameter.
func FuzzChainSyntax(f *testing.F) {
	for _, s := range []string{"a,-b,default", "-default", "", ",,-", "a;b", "--", "activelimit,-a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		factories := filter.Builtin()
		factories["a"], factories["b"] = trace(new([]string), "a"), trace(new([]string), "b")
		u := url.New("consumer", "192.0.2.1", 0, "com.example.DemoService", map[string]string{"reference.filter": text})
		chain, err := filter.NewChain(filter.Config{Reference: u}, factories)
		if err != nil {
			assert.ErrorContains(t, err, "reference.filter")
			return
		}
		names := chain.Names()
		assert.Equal(t, "activelimit", names[len(names)-1])
		seen := map[string]bool{}
		for _, name := range names {
			assert.False(t, seen[name], "%s twice", name)
			seen[name] = true
		}
	})
}

// The order holds at both levels; attempts are innermost.
func TestChainOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.Permutation([]string{"a", "b", "c"}).Draw(rt, "names")
		var log []string
		factories := filter.Builtin()
		for _, name := range names {
			factories[name] = trace(&log, name)
		}
		chain, err := filter.NewChain(filter.Config{Reference: reference(rt, "reference.filter="+strings.Join(names, ","))}, factories)
		require.NoError(rt, err)
		p := newProvider(rt, "", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
			log = append(log, "endpoint")
			return &inv.Result, nil
		}, chain.Attempt)
		_, err = chain.Call(p.node).Invoke(context.Background(), p.invocation())
		require.NoError(rt, err)
		want := []string{
			names[0] + " call", names[1] + " call", names[2] + " call",
			names[0] + " attempt", names[1] + " attempt", names[2] + " attempt", "endpoint",
		}
		assert.Equal(rt, want, log)
	})
}

// B104: a filter that replaces the value leaves the answer's attachments.
func TestB104AttachmentsOfTheAnswerStay(t *testing.T) {
	chain, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter=double")},
		map[string]filter.Factory{"double": func(filter.Config) (filter.Pair, error) {
			return filter.Pair{Call: func(next protocol.Invoker) protocol.Invoker {
				return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
					res, err := next.Invoke(ctx, inv)
					if err == nil {
						res.Value = res.Value.(int) * 2
					}
					return res, err
				})
			}}, nil
		}})
	require.NoError(t, err)
	p := newProvider(t, "", func(_ context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
		inv.Result.Value, inv.Result.Attachments = 21, map[string]any{"k": "v"}
		return &inv.Result, nil
	}, chain.Attempt)
	inv := p.invocation()
	_, err = chain.Call(p.node).Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Equal(t, 42, inv.Result.Value)
	assert.Equal(t, map[string]any{"k": "v"}, inv.Result.Attachments)
}

// A chain without filters per call costs nothing there.
func TestChainWithoutCallFilters(t *testing.T) {
	chain, err := filter.NewChain(filter.Config{}, nil)
	require.NoError(t, err)
	inner := &endpoint{}
	assert.Same(t, inner, chain.Call(inner))
}

func TestPanicInACallFilterFailsTheCallAlone(t *testing.T) {
	chain, logs := panicking(t)
	p := newProvider(t, "", nil, nil)
	inv := p.invocation()
	inv.StartCall() // nobody was tried
	_, err := chain.Call(&endpoint{}).Invoke(t.Context(), inv)
	assert.ErrorIs(t, err, protocol.ErrUnknown)
	var e *protocol.Error
	require.ErrorAs(t, err, &e)
	assert.False(t, e.Sent)
	assert.EqualError(t, err, "gofer: com.example.DemoService.find: unknown error: panic: out of order")
	require.Equal(t, 1, logs.Len())
	assert.Contains(t, logs.All()[0].ContextMap()["stack"], "TestPanicInACallFilterFailsTheCallAlone")
}

// What panics in every call does not fill the log.
func TestPanicsOfACallFilterAreLoggedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain, logs := panicking(t)
		p := newProvider(t, "", nil, nil)
		invoker := chain.Call(&endpoint{})
		for range 2500 {
			_, err := invoker.Invoke(t.Context(), p.invocation())
			require.ErrorIs(t, err, protocol.ErrUnknown)
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(t, 3, logs.Len(), "in 25 s")
		for i, missed := range []int64{0, 999, 999} {
			assert.Equal(t, missed, logs.All()[i].ContextMap()["notLogged"])
		}
	})
}

// answering returns a chain with one filter per call that does as the script says.
func answering(t *testing.T, s func(context.Context, *protocol.Invocation) (*protocol.Result, error)) *filter.Chain {
	return logging(t, nil, s)
}

// panicking returns one whose filter panics in every call, and what it logs.
func panicking(t *testing.T) (*filter.Chain, *observer.ObservedLogs) {
	core, logs := observer.New(zap.DebugLevel)
	return logging(t, zap.New(core), func(context.Context, *protocol.Invocation) (*protocol.Result, error) { panic("out of order") }), logs
}

func logging(t *testing.T, log *zap.Logger, s func(context.Context, *protocol.Invocation) (*protocol.Result, error)) *filter.Chain {
	chain, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter=own"), Logger: log},
		map[string]filter.Factory{"own": func(filter.Config) (filter.Pair, error) {
			return filter.Pair{Call: func(protocol.Invoker) protocol.Invoker { return protocol.InvokerFunc(s) }}, nil
		}})
	require.NoError(t, err)
	return chain
}

func TestErrorOfACallFilterNamesTheCall(t *testing.T) {
	odd := errors.New("odd")
	p := newProvider(t, "", nil, nil)
	inv := p.invocation()
	inv.StartCall()
	_, err := answering(t, fail(odd)).Call(&endpoint{}).Invoke(t.Context(), inv)
	assert.ErrorIs(t, err, odd)
	assert.ErrorIs(t, err, protocol.ErrUnknown)
	var e *protocol.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "com.example.DemoService", e.Service)
	assert.Equal(t, "find", e.Method)
	assert.Positive(t, e.Elapsed)
	assert.EqualError(t, err, "gofer: com.example.DemoService.find: unknown error: odd")
}

func TestCallFilterAnswersInPlace(t *testing.T) {
	var target string
	inv := newProvider(t, "", nil, nil).invocation()
	inv.Result.Target = &target
	mine := func(context.Context, *protocol.Invocation) (*protocol.Result, error) {
		return &protocol.Result{Value: "mine"}, nil
	}
	res, err := answering(t, mine).Call(&endpoint{}).Invoke(t.Context(), inv)
	require.NoError(t, err)
	assert.Same(t, &inv.Result, res)
	assert.Equal(t, "mine", target)

	inv.Result.Target = new(int)
	_, err = answering(t, mine).Call(&endpoint{}).Invoke(t.Context(), inv)
	assert.ErrorIs(t, err, protocol.ErrSerialization)
	assert.ErrorContains(t, err, "type string, the caller wants int")

	_, err = answering(t, fail(nil)).Call(&endpoint{}).Invoke(t.Context(), inv)
	assert.ErrorContains(t, err, "a filter or cluster strategy returned no result and no error")
}

// A filter function that returns nil, or panics, is named, at both levels: it ends
// neither the process nor the check that it may be.
func TestFilterThatMakesNoInvoker(t *testing.T) {
	for why, odd := range map[string]filter.Filter{
		"its function returned nil":     func(protocol.Invoker) protocol.Invoker { return nil },
		"its function panicked: no key": func(protocol.Invoker) protocol.Invoker { panic("no key") },
	} {
		for level, pair := range map[string]filter.Pair{"call": {Call: odd}, "attempt": {Attempt: odd}} {
			chain, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter=odd")},
				map[string]filter.Factory{"odd": func(filter.Config) (filter.Pair, error) { return pair, nil }})
			require.NoError(t, err)
			p := newProvider(t, "", nil, chain.Attempt)
			_, err = chain.Call(p.node).Invoke(t.Context(), p.invocation())
			assert.ErrorContains(t, err, `filter "odd" made no invoker: `+why, level)
		}
	}
}

// A factory that panics is an error that names the filter.
func TestFactoryOfAFilterThatPanics(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	boom := errors.New("boom")
	_, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter=odd"), Logger: zap.New(core)}, map[string]filter.Factory{
		"odd": func(filter.Config) (filter.Pair, error) { panic(boom) },
	})
	assert.EqualError(t, err, `filter "odd": its factory: panic: boom`)
	assert.ErrorIs(t, err, boom)
	require.Equal(t, 1, logs.Len())
	assert.Contains(t, logs.All()[0].ContextMap()["stack"], "chain_test.go")
}

func TestNilFactoryOfAFilter(t *testing.T) {
	_, err := filter.NewChain(filter.Config{Reference: reference(t, "reference.filter=odd")}, map[string]filter.Factory{"odd": nil})
	assert.ErrorContains(t, err, `filter "odd": its factory is nil`)
}
