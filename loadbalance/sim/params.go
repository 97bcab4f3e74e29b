package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// simulated are the parameters in gofer's table that do something here.
var simulated = []string{"hash.arguments", "hash.nodes", "outlier", "outlier.failures", "outlier.pause", "warmup", "weight"}

// instead is what to say in place of some that do not.
var instead = map[string]string{
	"actives":                     "no request waits for others at its consumer; threads of the provider has those refused that are too many",
	"disabled":                    "leave the provider out, or let it take leave by a fault",
	"enabled":                     "leave the provider out, or let it take leave by a fault",
	"executes":                    "threads is a key of the provider itself",
	"loadbalance":                 "a run is told its policy",
	"remote.timestamp":            "joins is when the provider starts",
	"retries":                     "there are no retries, so that errors show",
	"shortestResponseSlidePeriod": "it is a reference's, not a provider's",
	"threads":                     "threads is a key of the provider itself",
	"timeout":                     "the scenario has a deadline",
	"timestamp":                   "joins is when the provider starts",
}

// params checks the parameters of a provider's URL as a registry's are, and that those
// which gofer knows have an effect. What it does not know may mean something to a load
// balancer of one's own.
func (c *checker) params(s *Scenario, p *Provider) {
	for _, key := range slices.Sorted(maps.Keys(p.Params)) {
		switch name, idle := meaning(key); {
		case key == "":
			c.bad("", "a parameter has no name")
		case idle != "":
			c.bad(key, "has no effect: %s", idle)
		case name == "hash.arguments" && s.Keys == nil:
			c.bad(key, "has no effect: the scenario has no keys")
		case name == "weight" && p.Weight != 0:
			c.bad(key, "the provider has a weight of its own, too: one of them")
		}
	}
	for _, bad := range url.Validate(url.New("dubbo", address(0), port, serviceName, p.Params)) {
		c.bad(bad.Key, "%q: %s", bad.Value, bad.Reason)
	}
}

// slips returns an error that names every parameter of a provider which gofer does not
// know, but whose name is nearly that of one it knows. Nobody reads them, unless there is a
// load balancer of one's own.
func (s *Scenario) slips() error {
	var errs []error
	for i := range s.Providers {
		for _, key := range slices.Sorted(maps.Keys(s.Providers[i].Params)) {
			name, _ := meaning(key)
			if _, known := serviceRow(name); known {
				continue
			}
			if near := url.NearestOf(strings.TrimPrefix(name, methodName+"."), simulated); near != "" {
				errs = append(errs, fmt.Errorf("%s: providers[%d].params.%s: gofer has no such parameter, did you mean %q? (what it does not know is for load balancers of one's own, and the run has none)", s.called(), i, plain(key), near))
			}
			if len(errs) == maxProblems {
				return errors.Join(errs...)
			}
		}
	}
	return errors.Join(errs...)
}

// meaning returns the parameter that a key sets, which may have a method before it, and
// why that has no effect. A key that gofer does not know sets itself.
func meaning(key string) (name, idle string) {
	name = strings.TrimPrefix(key, "default.")
	row, known := serviceRow(name)
	if method, rest, ok := strings.Cut(name, "."); ok && !known {
		if row, known = serviceRow(rest); known {
			name = rest
			switch {
			case method != methodName:
				return name, fmt.Sprintf("the method that is called is %q", methodName)
			case row.Level != url.LevelMethod:
				return name, name + " is one for all methods"
			}
		}
	}
	switch {
	case !known || slices.Contains(simulated, name):
		return name, ""
	case instead[name] != "":
		return name, instead[name]
	}
	return name, "of the parameters that gofer knows a simulated provider has " + strings.Join(simulated, ", ") + ", and any that gofer does not know"
}

// serviceRow returns what gofer knows of a parameter of services.
func serviceRow(name string) (url.Parameter, bool) {
	row, known := url.Lookup(name)
	return row, known && row.Scope != url.ScopeRegistry
}
