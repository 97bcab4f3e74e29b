package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/url"
)

// config is what the flags say.
type config struct {
	local    bool // no flag: the registry and the providers are in this process
	registry string
	service  string // reference, com.example.OrderService?version=1.0.0
	method   string // in Java's words, describe(long)
	args     []any  // of the method
	duration time.Duration
	callers  int
	seed     uint64
}

const (
	shortest, longest = time.Second, time.Minute // samples are kept in memory
	mostCallers       = 1000
)

func parseFlags(args []string, usage io.Writer) (config, error) {
	cfg := config{duration: 9 * time.Second, callers: 12, seed: 1}
	var texts []string
	fs := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed by who gets them
	fs.StringVar(&cfg.registry, "registry", "", "`address` of a real registry, zookeeper://host:port; without it everything runs in this process")
	fs.StringVar(&cfg.service, "service", "", "`reference` to call there: com.example.OrderService?version=1.0.0&timeout=800")
	fs.StringVar(&cfg.method, "method", "", "`signature` in Java's words: 'describe(long)'")
	fs.Func("arg", "argument as `text`, once per parameter: 42, true, Ada, null; JSON for lists, maps and objects", func(s string) error {
		texts = append(texts, s)
		return nil
	})
	fs.Func("duration", "`time` under load, all strategies together, 1s to 1m (default 9s)", func(s string) (err error) {
		if cfg.duration, err = time.ParseDuration(s); err != nil || cfg.duration < shortest || cfg.duration > longest {
			return errors.New("write a time from 1s to 1m, such as 9s")
		}
		return nil
	})
	fs.Func("callers", "`number` of calls at the same time, 1 to 1000 (default 12)", func(s string) (err error) {
		if cfg.callers, err = strconv.Atoi(s); err != nil || cfg.callers < 1 || cfg.callers > mostCallers {
			return fmt.Errorf("write a whole number from 1 to %d, such as 12", mostCallers)
		}
		return nil
	})
	fs.Func("seed", "`number` that service times and load balancers draw from (default 1)", func(s string) (err error) {
		if cfg.seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			return errors.New("write a whole number, such as 1")
		}
		return nil
	})
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(usage, "Shows gofer at work; without flags a ZooKeeper and three providers run in this process.")
			fs.SetOutput(usage)
			fs.PrintDefaults()
			return cfg, err
		}
		return cfg, fmt.Errorf("%w (-help lists the flags)", err)
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("%q belongs to no flag: write arguments of the method as -arg %s", fs.Arg(0), fs.Arg(0))
	}
	return cfg, cfg.complete(texts)
}

// complete checks the flags that belong together.
func (c *config) complete(texts []string) error {
	if c.registry == "" {
		service, _, _ := strings.Cut(c.service, "?") // without parameters: a token may be among them
		for _, f := range [][2]string{{"-service", service}, {"-method", c.method}, {"-arg", strings.Join(texts, " ")}} {
			if f[1] != "" {
				return fmt.Errorf("%s %q needs a registry to look in: add -registry zookeeper://host:2181, or leave it out to run providers in this process", f[0], f[1])
			}
		}
		c.local = true
		return nil
	}
	address, err := url.Parse(c.registry)
	if err != nil {
		return fmt.Errorf("-registry: %w", err)
	}
	if c.service == "" {
		return fmt.Errorf("-registry %q without -service: say what to call, as -service 'com.example.OrderService?version=1.0.0'", address) // no password in it
	}
	if !strings.Contains(c.method, "(") {
		return fmt.Errorf("-method %q: write name and parameter types in Java's words, as -method 'describe(long)'", c.method)
	}
	signature, err := hessian2.ParseSignature(c.method)
	if err != nil {
		return fmt.Errorf("-method %q: %w", c.method, err)
	}
	if len(texts) != len(signature.Types) {
		return fmt.Errorf("-method %q has %d parameters, and -arg was given %d times (%q): write it once per parameter, in order",
			c.method, len(signature.Types), len(texts), texts)
	}
	for i, text := range texts {
		v, err := argument(signature.Types[i], text)
		if err != nil {
			return fmt.Errorf("-arg %q for parameter %d of %s: %w", text, i+1, signature, err)
		}
		c.args = append(c.args, v)
	}
	return nil
}

// warmup is how long the restarted provider warms up: two thirds of a strategy's time.
func (c *config) warmup() time.Duration {
	return (c.duration * 2 / 9).Truncate(time.Millisecond)
}
