//go:build unix

package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// each is how long a call takes, so that there always are calls under way.
const each = 5 * time.Millisecond

// Pair is two providers of a group of their own.
type Pair struct {
	A, B      Member
	Reference string // to them
	close     []func()
}

// Close kills the providers.
func (p *Pair) Close() {
	for _, f := range p.close {
		f()
	}
}

// JavaPair starts two Java providers of a Dubbo version in env's ZooKeeper.
func JavaPair(ctx context.Context, env *harness.Environment, version, group string, flags ...string) (*Pair, error) {
	flags = append([]string{"--group", group, "--delay", fmt.Sprint(each.Milliseconds())}, flags...)
	pair := &Pair{Reference: reference(group)}
	for _, m := range []*Member{&pair.A, &pair.B} {
		p, err := env.LaunchProvider(ctx, version, flags...)
		if err != nil {
			pair.Close()
			return nil, err
		}
		pair.close = append(pair.close, func() { _ = p.Kill() })
		*m = Java(p)
	}
	return pair, nil
}

// InProcessPair starts two dubbotest providers in a registry.
func InProcessPair(registry, group string, opts ...dubbotest.Option) (*Pair, error) {
	pair := &Pair{Reference: reference(group)}
	for i, m := range []*Member{&pair.A, &pair.B} {
		p, err := dubbotest.New(harness.Interface+"?group="+group, opts...)
		if err != nil {
			pair.Close()
			return nil, err
		}
		pair.close = append(pair.close, p.Close)
		var bad error
		*m, bad = InProcess(p, fmt.Sprintf("%s-%d", group, i), each)
		if err := errors.Join(bad, p.Register(registry)); err != nil {
			pair.Close()
			return nil, err
		}
	}
	return pair, nil
}

// reference never retries: whoever fails is seen.
func reference(group string) string { return harness.Interface + "?group=" + group + "&retries=0" }

// Patient is a parameter for a timeout so long that who waits for it is noticed.
const Patient = "&timeout=5000"

// Refer declares the pair's reference, with further parameters as "&timeout=300", and
// waits until both members have been called.
func (p *Pair) Refer(ctx context.Context, client *gofer.Client, params string) (*gofer.Reference, error) {
	r, err := client.Refer(ctx, p.Reference+params)
	if err != nil {
		return nil, err
	}
	l := Start(r, 1)
	defer l.End()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, m := range []Member{p.A, p.B} {
		if err := l.Await(ctx, m, 1); err != nil {
			return nil, err
		}
	}
	return r, nil
}
