package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
	"github.com/gofer-rpc/gofer/protocol"
)

// config is what the flags say.
type config struct {
	grid     sim.Grid
	markdown bool
}

// Bounds that keep a slip of the pen from running for a day.
const (
	mostSeeds           = 100
	mostLoads           = 20
	leastLoad, mostLoad = 0.01, 2.0 // shares of what the cluster can take
)

// all is the word for all policies, or scenarios.
const all = "all"

// groups are the words for several scenarios.
func groups() map[string][]string {
	return map[string][]string{"core": sim.Core, "more": sim.More, "hashing": sim.Hashing, all: every()}
}

// every returns the names of all scenarios.
func every() []string { return slices.Concat(sim.Core, sim.More, sim.Hashing) }

// parseFlags reads the command line and checks all that can be checked without a run.
// Help that is asked for goes to usage, once; the error is [flag.ErrHelp] then.
func parseFlags(args []string, usage io.Writer) (cfg config, err error) {
	fs := flag.NewFlagSet("quality", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed by who gets them
	scenarios := fs.String("scenarios", "core", "`names` separated by commas: core, more, hashing, all, or of scenarios:\n"+fold(every()))
	file := fs.String("file", "", "`names` of files with scenarios of your own, separated by commas: see the documentation of\npackage loadbalance/sim. Without -scenarios, these alone")
	policies := fs.String("policies", all, "`names` separated by commas: all (the load balancers, Dubbo's for Java with a\npatch that is often proposed, and the two references), or\n"+fold(sim.Policies()))
	loads := fs.String("loads", "50,70,90", fmt.Sprintf("`shares` of what the cluster can take, separated by commas, 1%% to 200%%, at most %d;\n70%%, 70 and 0.7 are the same: without %% a number below 1 is a share, from 10 on a\npercentage, and what is between needs the %%", mostLoads))
	seeds := fs.Int("seeds", 3, fmt.Sprintf("`number` of runs of each, 1 to %d, whose figures are averaged", mostSeeds))
	variant := fs.String("variant", "fifo", "`name` of a model of providers and requests:\n"+variants())
	fs.BoolVar(&cfg.markdown, "markdown", false, "write the tables for a page")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(usage, "Compares load balancers in simulated clusters: times of calls, over those of the better of two\n"+
				"choosers who see everything (oracle and jsq: references, no bound).\n"+
				"All policies in the core scenarios with 3 seeds take some 8 minutes on two cores.\n\nusage: quality [flags]\n\n")
			fs.SetOutput(usage)
			fs.PrintDefaults()
			return cfg, err
		}
		return cfg, fmt.Errorf("%w (-help lists the flags)", err)
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("%q belongs to no flag, and what follows would not be read (-help lists the flags)", fs.Arg(0))
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["scenarios"] || !given["file"] {
		if cfg.grid.Scenarios, err = parseScenarios(*scenarios); err != nil {
			return cfg, fmt.Errorf("-scenarios: %w", err)
		}
	}
	if given["file"] {
		if cfg.grid.Own, err = loadFiles(*file, cfg.grid.Scenarios); err != nil {
			return cfg, fmt.Errorf("-file: %w", err)
		}
	}
	if cfg.grid.Policies, err = parsePolicies(*policies); err != nil {
		return cfg, fmt.Errorf("-policies: %w", err)
	}
	if cfg.grid.Loads, err = parseLoads(*loads); err != nil {
		return cfg, fmt.Errorf("-loads: %w", err)
	}
	if *seeds < 1 || *seeds > mostSeeds {
		return cfg, fmt.Errorf("-seeds: %d is not between 1 and %d", *seeds, mostSeeds)
	}
	for i := range *seeds {
		cfg.grid.Seeds = append(cfg.grid.Seeds, uint64(i+1))
	}
	if cfg.grid.Variant, err = parseVariant(*variant); err != nil {
		return cfg, fmt.Errorf("-variant: %w", err)
	}
	return cfg, nil
}

// split returns the words of a list, without the space around them.
func split(list string) ([]string, error) {
	words := strings.Split(list, ",")
	for i := range words {
		if words[i] = strings.TrimSpace(words[i]); words[i] == "" {
			return nil, fmt.Errorf("there is an empty name in %q", list)
		}
	}
	return words, nil
}

// once returns the names if none is there twice.
func once(names []string) ([]string, error) {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
	}
	return names, nil
}

func parseScenarios(list string) ([]string, error) {
	words, err := split(list)
	if err != nil {
		return nil, err
	}
	known := groups()
	for _, name := range every() {
		known[name] = []string{name}
	}
	var names []string
	for _, word := range words {
		group, ok := known[word]
		if !ok {
			return nil, protocol.UnknownName("scenario", word, known)
		}
		names = append(names, group...)
	}
	return once(names)
}

// loadFiles reads scenarios from files. None has the name of another.
func loadFiles(list string, others []string) (own []*sim.Scenario, err error) {
	words, err := split(list)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(others)
	for _, word := range words {
		s, err := sim.Load(word)
		if err != nil {
			return nil, err
		}
		own, names = append(own, s), append(names, s.Name)
	}
	_, err = once(names)
	return own, err
}

func parsePolicies(list string) ([]string, error) {
	words, err := split(list)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range sim.Policies() {
		known[name] = true
	}
	var names []string
	for _, word := range words {
		switch {
		case word == all:
			names = append(names, sim.Policies()...)
		case known[word]:
			names = append(names, word)
		default:
			return nil, protocol.UnknownName("policy", word, known)
		}
	}
	return once(names)
}

func parseLoads(list string) ([]float64, error) {
	words, err := split(list)
	if err != nil {
		return nil, err
	}
	if len(words) > mostLoads {
		return nil, fmt.Errorf("%d are more than %d", len(words), mostLoads)
	}
	var loads []float64
	for _, word := range words {
		load, err := parseLoad(word)
		if err != nil {
			return nil, err
		}
		if slices.Contains(loads, load) {
			return nil, fmt.Errorf("%q is there twice: %s %%", word, percent(load))
		}
		loads = append(loads, load)
	}
	return loads, nil
}

// parseLoad reads a load, 70%, 70 or 0.7, as a share. What may be meant in two ways is
// an error, and so is what the tables would round.
func parseLoad(word string) (float64, error) {
	digits, marked := strings.CutSuffix(word, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%q is not a load such as 70%%, 70 or 0.7", word)
	case !marked && v < 1:
		v *= 100
	case !marked && v < 10:
		return 0, fmt.Errorf("%q may be %s %% or %s %%: write it with %%", word, percent(v/100), percent(v))
	}
	tenths := math.Round(v * 10)
	load := tenths / 1000
	switch {
	case !(load >= leastLoad && load <= mostLoad):
		return 0, fmt.Errorf("%q is not between %s %% and %s %%", word, percent(leastLoad), percent(mostLoad))
	case math.Abs(v*10-tenths) > 1e-6:
		return 0, fmt.Errorf("%q has more than one decimal of a percent", word)
	}
	return load, nil
}

func parseVariant(name string) (sim.Variant, error) {
	known := map[string]sim.Variant{}
	for _, v := range sim.Variants() {
		known[v.Name] = v
	}
	if v, ok := known[strings.TrimSpace(name)]; ok {
		return v, nil
	}
	return sim.Variant{}, protocol.UnknownName("variant", name, known)
}

// variants says what the variants are, a line each; the default last, as "(default …)"
// follows.
func variants() string {
	var texts []string
	for _, v := range slices.Backward(sim.Variants()) {
		texts = append(texts, v.Name+": "+v.About)
	}
	return strings.Join(texts, "\n")
}

// fold joins names into lines that fit a terminal.
func fold(names []string) string {
	var b strings.Builder
	n := 0
	for i, name := range names {
		switch {
		case i == 0:
		case n+len(name) > 70:
			b.WriteString(",\n")
			n = 0
		default:
			b.WriteString(", ")
		}
		b.WriteString(name)
		n += len(name) + len(", ")
	}
	return b.String()
}
