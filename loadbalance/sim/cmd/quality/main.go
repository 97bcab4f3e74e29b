// Command quality compares load balancers in simulated clusters: of each the 99th
// percentile and the mean of the time of a call, as ratios to the best that is
// possible, in every scenario; the best first, the worst case named.
//
//	go run ./loadbalance/sim/cmd/quality                      # the core scenarios, 3 seeds
//	go run ./loadbalance/sim/cmd/quality -scenarios hashing -policies ringload,consistenthash
//	go run ./loadbalance/sim/cmd/quality -variant ps -seeds 1  # providers that share their cores
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	flags.SetOutput(progress)
	scenarios := flags.String("scenarios", "core", "core, more, hashing, all, or names separated by commas")
	policies := flags.String("policies", "all", "names separated by commas; all: every load balancer, and Dubbo's for Java")
	loads := flags.String("loads", "50,70,90", "percent of what the cluster can take")
	seeds := flags.Int("seeds", 3, "runs of each, whose figures are averaged")
	variant := flags.String("variant", "fifo", variants())
	markdown := flags.Bool("markdown", false, "write tables for a page")
	if err := flags.Parse(args); err != nil {
		return err
	}
	g, err := grid(*scenarios, *policies, *loads, *seeds, *variant)
	if err != nil {
		return err
	}
	p := &printer{w: progress}
	g.Progress = p.show
	q, err := g.Run()
	p.end()
	if err != nil {
		return err
	}
	for _, mean := range []bool{false, true} {
		what := "99th percentile"
		if mean {
			what = "mean"
		}
		fmt.Fprintf(out, "%s over the best possible; geometric means over loads of %s %%, %d seeds, variant %s\n\n", what, *loads, *seeds, *variant)
		if err := q.WriteTable(out, mean, *markdown); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
}

func variants() string {
	var texts []string
	for _, v := range sim.Variants() {
		texts = append(texts, v.Name+": "+v.About)
	}
	return strings.Join(texts, "; ")
}

func grid(scenarios, policies, loads string, seeds int, variant string) (g sim.Grid, err error) {
	switch scenarios {
	case "core":
		g.Scenarios = sim.Core
	case "more":
		g.Scenarios = sim.More
	case "hashing":
		g.Scenarios = sim.Hashing
	case "all":
		g.Scenarios = slices.Concat(sim.Core, sim.More, sim.Hashing)
	default:
		g.Scenarios = strings.Split(scenarios, ",")
	}
	if g.Policies = strings.Split(policies, ","); policies == "all" {
		g.Policies = sim.Policies()
	}
	for _, text := range strings.Split(loads, ",") {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil || !(percent > 0 && percent <= 1000) {
			return g, fmt.Errorf("-loads: %q is not a percentage such as 70", text)
		}
		g.Loads = append(g.Loads, percent/100)
	}
	if seeds < 1 {
		return g, fmt.Errorf("-seeds: %d is less than 1", seeds)
	}
	for i := range seeds {
		g.Seeds = append(g.Seeds, uint64(i+1))
	}
	for _, v := range sim.Variants() {
		if v.Name == variant {
			g.Variant = v
			return g, nil
		}
	}
	return g, fmt.Errorf("-variant: unknown %q (%s)", variant, variants())
}

// printer shows how far the runs are, a few times a second.
type printer struct {
	w    io.Writer
	mu   sync.Mutex
	last time.Time
}

func (p *printer) show(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.last) > time.Second/4 {
		p.last = now
		fmt.Fprintf(p.w, "\r%d of %d runs", done, all)
	}
}

func (p *printer) end() { fmt.Fprint(p.w, "\r                        \r") }
