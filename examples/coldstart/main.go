// Command coldstart tells the story of the flooded new node:
//
//	go run ./examples/coldstart
//
// A report says: three providers, "leastactive", one restarted; cold as it is, it gets
// 72 % of the calls and 90 % CPU while the others idle at 30 %, because a provider that
// alone has the fewest calls under way gets the next one whatever its weight. Is that
// so? The program simulates the cluster in virtual time, with that mechanism alone and
// with each of three other causes; with Dubbo's leastactive, the cures that people
// try, and gofer's strategies. It prints the figures and writes a page with plots,
// coldstart.html. What the words claim is computed from the figures.
//
// Where to look: causes.go has the clusters; strategies.go the strategies; [measure]
// runs them; report.go prints the tables, words.go and closing.go say what they mean;
// page.go, plot.go and svg.go make the page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program. It returns the exit code; the end of ctx interrupts it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "coldstart:", err)
		return 2
	}
	began := time.Now()
	switch err := tell(ctx, cfg, stdout); {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "coldstart: interrupted")
		return 128 + int(syscall.SIGINT)
	case err != nil:
		fmt.Fprintln(stderr, "coldstart:", err)
		return 1
	}
	fmt.Fprintf(stdout, "done in %.1f s\n", time.Since(began).Seconds())
	return 0
}

// tell simulates, and writes what came out.
func tell(ctx context.Context, cfg config, out io.Writer) error {
	if err := cfg.writable(); err != nil { // before the work, not after it
		return err
	}
	cfg.writeQuestion(out) // something to read meanwhile
	r, err := measure(ctx, cfg)
	if err != nil {
		return err
	}
	r.writeAnswer(out)
	return r.save(out)
}
