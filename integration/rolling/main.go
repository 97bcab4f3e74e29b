//go:build unix

// Command rolling restarts providers under load, as a release does and as crashes do,
// and counts the calls that fail: two providers of every supported Dubbo version, and
// two in-process ones, registered in a real ZooKeeper; calls are never retried.
//
//	go run ./integration/rolling
//
// It fails when a call fails that was not under way at a provider at the moment it was
// killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/rolling/drill"
)

var (
	callers = flag.Int("callers", 8, "calls under way at any time")
	rounds  = flag.Int("rounds", 1, "how often each provider is stopped, and killed")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "rolling:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	fmt.Println("starting ZooKeeper and Java providers …")
	env, err := harness.Start(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(env.Dir)
	defer env.Close()

	registry := "zookeeper://" + env.ZooKeeper.Addr()
	client, err := gofer.New(gofer.WithApplication("rolling"), gofer.WithRegistry(registry+"?file-cache=false"))
	if err != nil {
		return err
	}
	defer client.Close()

	var errs []error
	for _, version := range env.Versions() {
		errs = append(errs, roll(ctx, client, "Dubbo "+version, func() (*drill.Pair, error) {
			return drill.JavaPair(ctx, env, version, "rolling-"+version)
		}))
	}
	errs = append(errs, roll(ctx, client, "dubbotest", func() (*drill.Pair, error) {
		return drill.InProcessPair(registry, "rolling-dubbotest")
	}))
	return errors.Join(errs...)
}

// roll drills one pair and prints its line.
func roll(ctx context.Context, client *gofer.Client, name string, start func() (*drill.Pair, error)) error {
	pair, err := start()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer pair.Close()
	reference, err := pair.Refer(ctx, client, drill.Patient)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer reference.Close()
	stopped, err1 := under(ctx, reference, drill.Stop, pair)
	fmt.Printf("%-14s calls=%-6d failed=%d restarts=%d slowest=%-6v", name, stopped.Calls, len(stopped.Failures), 2**rounds, stopped.Slowest.Round(time.Millisecond))
	killed, err2 := under(ctx, reference, drill.Kill, pair)
	fmt.Printf(" | kill -9: calls=%-6d failed=%d of at most %d under way, the last after %v\n",
		killed.Calls, len(killed.Failures), 2**rounds**callers, longest(killed).Round(time.Millisecond))
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// under rolls the pair under load.
func under(ctx context.Context, r *gofer.Reference, how drill.Ending, pair *drill.Pair) (drill.Report, error) {
	load := drill.Start(r, *callers)
	for range *rounds {
		if err := drill.Roll(ctx, load, how, pair.A, pair.B); err != nil {
			return load.End(), err
		}
	}
	return load.End(), nil
}

func longest(r drill.Report) (d time.Duration) {
	for _, f := range r.Failures {
		d = max(d, f.Ended.Sub(f.Began))
	}
	return d
}
