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
	out := &report{to: stdout}
	cfg, err := parseFlags(args, out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		err = out.err
	case err != nil:
		fmt.Fprintln(stderr, "coldstart:", err)
		return 2
	default:
		err = tell(ctx, cfg, out)
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "coldstart: interrupted")
		return 128 + int(syscall.SIGINT)
	case err != nil:
		fmt.Fprintln(stderr, "coldstart:", err)
		return 1
	}
	return 0
}

// tell simulates, and writes what came out. The page is written even if the report
// gets lost.
func tell(ctx context.Context, cfg config, out *report) error {
	began := time.Now()
	if err := cfg.writable(); err != nil { // before the work, not after it
		return err
	}
	cfg.writeQuestion(out) // something to read meanwhile
	if out.err != nil {
		return out.err
	}
	r, err := measure(ctx, cfg)
	if err != nil {
		return err
	}
	r.writeAnswer(out)
	if err := r.save(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "done in %.1f s\n", time.Since(began).Seconds())
	return out.err
}

// report passes on what is written and keeps the first error, after which nothing more
// is written.
type report struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (r *report) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.to.Write(p)
	if err != nil {
		r.err = fmt.Errorf("the report cannot be written: %w", err)
	}
	return n, r.err
}
