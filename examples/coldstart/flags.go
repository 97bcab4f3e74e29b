package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// config is what the flags say.
type config struct {
	seed  uint64
	runs  int
	after time.Duration // that is looked at, from the restart on
	html  string        // file of the page; "": none
}

func defaults() config {
	return config{seed: 1, runs: 3, after: 5 * time.Minute, html: "coldstart.html"}
}

// Bounds: the shortest time in which anything can be said, that in which a provider
// gets warm, and what fits into memory, as all calls of a strategy are kept.
const (
	shortest, longest = 10 * time.Second, 10 * time.Minute
	mostRuns          = 10
)

func parseFlags(args []string, usage io.Writer) (config, error) {
	cfg := defaults()
	fs := flag.NewFlagSet("coldstart", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed by who gets them
	fs.Func("html", "`file` for the page, \"\" for none (default \""+cfg.html+"\")", func(s string) error {
		if cfg.html = s; s == "-" {
			return errors.New("the page cannot go to standard output, where the report goes; name a file, such as coldstart.html")
		}
		return nil
	})
	fs.Func("seed", "`number` that everything is drawn from (default 1)", func(s string) (err error) {
		if cfg.seed, err = strconv.ParseUint(s, 10, 64); err != nil || cfg.seed > math.MaxUint64-mostRuns {
			return errors.New("write a whole number, such as 1")
		}
		return nil
	})
	fs.Func("runs", "`number` of runs that are pooled, with seeds in a row, 1 to 10 (default 3)", func(s string) (err error) {
		if cfg.runs, err = strconv.Atoi(s); err != nil || cfg.runs < 1 || cfg.runs > mostRuns {
			return fmt.Errorf("write a whole number from 1 to %d, such as 3", mostRuns)
		}
		return nil
	})
	fs.Func("after", "virtual `time` from the restart on, 10s to 10m in whole seconds (default 5m)", func(s string) (err error) {
		if cfg.after, err = time.ParseDuration(s); err != nil || cfg.after < shortest || cfg.after > longest || cfg.after%time.Second != 0 {
			return errors.New("write a time from 10s to 10m in whole seconds, such as 5m")
		}
		return nil
	})
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "Simulates a provider that is restarted cold, and shows what floods it, in virtual time.")
			fs.SetOutput(usage)
			fs.PrintDefaults()
			return cfg, err
		}
		return cfg, fmt.Errorf("%w (-help lists the flags)", err)
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("%q belongs to no flag (-help lists the flags)", fs.Arg(0))
	}
	return cfg, nil
}
