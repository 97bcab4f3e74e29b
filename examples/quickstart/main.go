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

// measure does all the work; in between it writes what it has found out.
func measure(ctx context.Context, cfg config, out io.Writer, show *progress) (found []outcome, err error) {
	dice := newDice(cfg.seed)
	var local *cluster
	if cfg.local {
		show.say("starting a ZooKeeper server and three providers")
		if local, err = startCluster(cfg.warmup(), dice); err != nil {
			return nil, err
		}
		defer local.close()
		cfg.registry, cfg.service, cfg.method, cfg.args = local.registry(), service, method, []any{id}
	}

	// A client is the consumer side of a whole process: one ZooKeeper session, one
	// connection per provider. Its options add a filter and replace load balancers;
	// references choose among them by name.
	m := newMeter()
	options := append(dice.balancers(),
		gofer.WithApplication("quickstart"),
		gofer.WithRegistry(cfg.registry),
		gofer.WithSlog(slog.NewTextHandler(show, &slog.HandlerOptions{Level: slog.LevelWarn})), // silent without
		gofer.WithFilter("meter", m.filter))
	client, err := gofer.New(options...)
	if err != nil {
		return nil, fmt.Errorf("-registry: %w", err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()

	for _, strategy := range cfg.strategies() {
		// A reference is a service with parameters, in Dubbo's words. Refer waits
		// until the list of providers is there and one is connected, so what is
		// wrong shows here and not at the first call.
		reference, err := client.Refer(ctx, cfg.reference(strategy))
		if err != nil {
			return found, err
		}
		if err := connected(ctx, reference); err != nil {
			return found, err
		}
		call := untyped(reference, cfg.method, cfg.args)
		if cfg.local {
			call = typed(reference)
		}
		answer, err := call(ctx)
		if err != nil {
			return found, fmt.Errorf("the first call: %w", err)
		}
		if len(found) == 0 {
			show.clear()
			introduce(out, cfg, reference.Snapshot(), answer)
		}
		o, err := try(ctx, strategy, cfg, m, call, local, show)
		if err != nil {
			return found, err
		}
		o.look(reference.Snapshot(), cfg.name())
		show.clear()
		o.write(out)
		found = append(found, o)
		if err := errors.Join(o.failure(), reference.Close()); err != nil {
			return found, err
		}
	}
	return found, nil
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

// try puts one strategy under load: a steady phase, and the restart of a provider if
// they are ours.
func try(ctx context.Context, strategy string, cfg config, m *meter, call caller, local *cluster, show *progress) (outcome, error) {
	m.reset()
	work := startLoad(ctx, cfg.callers, call)
	o := outcome{strategy: strategy}
	part := cfg.duration / time.Duration(len(cfg.strategies()))
	var err error
	if !cfg.local {
		err = show.during(ctx, part, strategy+": steady load", m)
	} else {
		o.names, o.restarted = local.names(), newcomer
		err = show.during(ctx, part-cfg.warmup(), strategy+": steady load", m)
		o.stopped = m.now()
		if err == nil {
			err = local.restart(ctx)
		}
		o.back = m.now()
		if err == nil {
			err = show.during(ctx, cfg.warmup(), strategy+": "+newcomer+" is back, cold, and warms up", m)
		}
	}
	o.calls, o.failed, o.first = work.stop()
	o.ended, o.samples = m.now(), m.taken()
	return o, err
}
