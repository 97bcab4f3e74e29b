package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes of the command.
const (
	done        = 0
	failed      = 1
	misused     = 2
	interrupted = 128 + int(syscall.SIGINT)
)

// run is the command. It returns the exit code; the end of ctx interrupts it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return done
	case err != nil:
		fmt.Fprintln(stderr, "quality:", err)
		return misused
	}
	switch err := compare(ctx, cfg, stdout, stderr); {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "quality: interrupted")
		return interrupted
	case err != nil:
		fmt.Fprintln(stderr, "quality:", err)
		return failed
	}
	return done
}

// compare runs the grid and writes its tables, all of them or none.
func compare(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	grid := cfg.grid
	if terminal(stderr) {
		p := newProgress(stderr)
		defer p.end()
		grid.Progress = p.show
	}
	q, err := grid.Run(ctx)
	if err != nil {
		return err
	}
	var tables bytes.Buffer
	if err := write(&tables, cfg, q); err != nil {
		return err
	}
	_, err = stdout.Write(tables.Bytes())
	return err
}

// write writes a table for each of the two figures.
func write(out io.Writer, cfg config, q *sim.Quality) error {
	var loads []string
	for _, l := range q.Grid.Loads {
		loads = append(loads, percent(l))
	}
	seeds := "1 seed"
	if n := len(q.Grid.Seeds); n > 1 {
		seeds = strconv.Itoa(n) + " seeds"
	}
	for _, mean := range []bool{false, true} {
		figure := "99th percentile"
		if mean {
			figure = "Mean"
		}
		fmt.Fprintf(out, "%s of the time of a call: 1 is as good as the better of the references, oracle\n"+
			"and jsq, who see everything; they are no bound. java-… are Dubbo's own rules, and\n"+
			"java-leastactive-weighted a patch that is often proposed for one.\n"+
			"Geometric means over loads of %s %%; %s; variant %s.\n\n",
			figure, strings.Join(loads, ", "), seeds, q.Grid.Variant.Name)
		if err := q.WriteTable(out, mean, cfg.markdown); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
}

// percent writes a load, a share, as exactly as one can be given.
func percent(load float64) string {
	return strconv.FormatFloat(100*load, 'g', 4, 64)
}
