// Command quickstart shows gofer at work with nothing installed but Go:
//
//	go run ./examples/quickstart
//
// It starts a ZooKeeper server and three dubbo providers inside this process, and a
// consumer that finds and calls them as it would find and call Java providers. For
// each load balancer it measures a steady load, then restarts one provider under
// that load: the newcomer is three times slower at first and warms up.
//
// The same program looks at real providers, without the restart:
//
//	go run ./examples/quickstart -registry zookeeper://10.0.0.1:2181 \
//		-service 'com.example.OrderService?version=1.0.0' -method 'describe(long)' -arg 42
//
// Where to look: [measure] makes the consumer, refers to a service and calls it;
// cluster.go has the providers; load.go the load and a filter that counts it;
// report.go turns the counts into the table and the sentence below it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofer-rpc/gofer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: the report goes to stdout, progress and errors to stderr. It
// returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "quickstart:", err)
		return 2
	}
	began, show := time.Now(), newProgress(stderr, cfg.duration)
	_, err = measure(ctx, cfg, stdout, show)
	show.clear()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "quickstart: interrupted; everything is closed")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "quickstart:", err)
		return 1
	}
	fmt.Fprintf(stdout, "done in %.1f s\n", time.Since(began).Seconds())
	return 0
}

// experiment is what the strategies have in common.
type experiment struct {
	config
	local  *cluster // nil: the providers are not ours
	client *gofer.Client
	meter  *meter
	out    io.Writer
	show   *progress
}

// measure does all the work; in between it writes what it has found out.
func measure(ctx context.Context, cfg config, out io.Writer, show *progress) (found []outcome, err error) {
	e := experiment{config: cfg, meter: newMeter(), out: out, show: show}
	dice := newDice(cfg.seed)
	if cfg.local {
		show.say("starting a ZooKeeper server and three providers")
		if e.local, err = startCluster(cfg.warmup(), dice); err != nil {
			return nil, err
		}
		defer e.local.close()
		e.registry, e.service, e.method, e.args = e.local.registry(), service, method, []any{id}
	}

	// A client is the consumer side of a whole process: one ZooKeeper session, one
	// connection per provider. Its options add a filter and replace load balancers;
	// references choose among them by name.
	options := append(dice.balancers(),
		gofer.WithApplication("quickstart"),
		gofer.WithRegistry(e.registry),
		gofer.WithSlog(slog.NewTextHandler(show, &slog.HandlerOptions{Level: slog.LevelWarn})), // silent without
		gofer.WithFilter("meter", e.meter.filter))
	if e.client, err = gofer.New(options...); err != nil {
		return nil, fmt.Errorf("-registry: %w", err)
	}
	defer func() { err = errors.Join(err, e.client.Close()) }()

	for _, strategy := range e.strategies() {
		o, err := e.try(ctx, strategy, len(found) == 0)
		if err != nil {
			return found, err
		}
		found = append(found, o)
		if err := o.failure(); err != nil {
			return found, err
		}
	}
	return found, nil
}

// try refers to the service, calls it once, and then puts it under load.
func (e *experiment) try(ctx context.Context, strategy string, first bool) (o outcome, err error) {
	// A reference is a service with parameters, in Dubbo's words. Refer waits until
	// the list of providers is there and one is connected, so what is wrong shows
	// here and not at the first call.
	reference, err := e.client.Refer(ctx, e.reference(strategy))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, reference.Close()) }()
	if err := connected(ctx, reference); err != nil {
		return o, err
	}
	call := untyped(reference, e.method, e.args)
	if e.local != nil {
		call = typed(reference)
	}
	answer, err := call(ctx)
	if err != nil {
		return o, fmt.Errorf("the first call: %w", err)
	}
	if first {
		e.show.clear()
		introduce(e.out, e.config, reference.Snapshot(), answer)
	}
	o.strategy = strategy
	if err := e.load(ctx, &o, call); err != nil {
		return o, err
	}
	o.look(reference.Snapshot(), e.name())
	e.show.clear()
	o.write(e.out)
	return o, nil
}

// connected waits for the other providers as well: else the first one has all calls
// for a moment. One that does not answer is no reason to wait long.
func connected(ctx context.Context, r *gofer.Reference) error {
	for range 100 {
		if f := r.Snapshot().Funnel; f.Available == f.Routed {
			break
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// load keeps the callers busy for a while; a provider of ours is restarted meanwhile.
func (e *experiment) load(ctx context.Context, o *outcome, call caller) (err error) {
	e.meter.reset()
	work := startLoad(ctx, e.callers, call)
	steady := e.duration / time.Duration(len(e.strategies()))
	if e.local != nil {
		o.names, o.restarted = e.local.names(), newcomer
		steady -= e.warmup()
	}
	err = e.show.during(ctx, steady, o.strategy+": steady load", e.meter)
	if e.local != nil && err == nil {
		o.stopped = e.meter.now()
		err = e.local.restart(ctx)
		o.back = e.meter.now()
		if err == nil {
			err = e.show.during(ctx, e.warmup(), o.strategy+": "+newcomer+" is back, cold, and warms up", e.meter)
		}
	}
	o.calls, o.failed, o.first = work.stop()
	o.ended, o.samples = e.meter.now(), e.meter.taken()
	return err
}
