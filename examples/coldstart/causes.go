package main

import (
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
)

// cause is one explanation of the flood, as a cluster in which nothing else is
// different.
type cause struct {
	key      string
	title    string
	label    string // in a few words
	about    string // what is in the cluster
	adds     bool   // it is the first cause's cluster, and calls under way more that stay
	scenario sim.Scenario
}

// The cluster of all causes: three providers of 4 workers, ten consumers that count
// calls per method, requests of 10 ms. The third provider comes back [before] after
// the beginning, as a new process at a new address, and stays [slower] for good, so
// that its share can settle.
const (
	before    = 20 * time.Second
	away      = 2 * time.Second // when it is restarted at its address
	newcomer  = 2               // its position
	providers = newcomer + 1
	consumers = 10
	workers   = 4
	work      = 10 * time.Millisecond
	slower    = 3
)

// The rest of it: the simulator's defaults, written down because the report names them.
const (
	notice   = 300 * time.Millisecond // until every consumer has learned of a change
	deadline = time.Second
	delay    = 250 * time.Microsecond // of the network, one way
	jitter   = 100 * time.Microsecond // mean of what is added to it
)

// What the causes have.
const (
	resident     = 2 // long requests per consumer and old provider
	residentTime = 10 * time.Minute
	residentCPU  = 0.045 // of a core, each
	leaked       = 2     // lost counts per consumer and old provider

	queryWork = 4 * time.Millisecond // of a call that waits for a database
	queryWait = 60 * time.Millisecond
)

// capacity is what the cluster can take with the slow newcomer, in calls per second.
const capacity = workers * (newcomer + 1.0/slower) * float64(time.Second/work)

// alone is the share of the capacity that the old providers have.
const alone = newcomer / (newcomer + 1.0/slower)

// Loads, as shares of the capacity. The report speaks of CPU at 30 % on the old
// providers and 90 % on the new one.
const (
	light    = 0.18 // 72 % of it keep the newcomer 90 % busy
	moderate = 0.35 // a third of it costs an old provider 30 % of its CPU
	heavy    = 0.90
)

// base is the cluster with the mechanism that is usually blamed, and nothing else.
func base(load float64) sim.Scenario {
	return sim.Scenario{
		Name:      "coldstart",
		Rate:      load * capacity,
		Consumers: consumers,
		Notify:    notice,
		Deadline:  deadline,
		Network:   &sim.Network{Delay: delay, Jitter: jitter},
		Requests:  []sim.Request{{Mean: work}},
		Providers: []sim.Provider{
			{Count: newcomer, Workers: workers},
			{Workers: workers, Joins: sim.At(before), Cold: &sim.Cold{Slow: slower, For: time.Hour}},
		},
	}
}

// causes are the explanations, the one usually given first. The last is none: it is
// the first with more to do, and shows what the cures cost.
func causes() []cause {
	blamed := cause{
		key: "blamed", title: "The mechanism usually blamed", label: "weight skipped, nothing else",
		about: fmt.Sprintf("A provider that alone has the fewest calls under way gets the next call whatever its weight, so the warm-up of a new provider is skipped. Nothing else is in the cluster: short calls, at %.0f %% of what it can take.", 100*light),
	}
	blamed.scenario = base(light)

	residents := cause{
		key: "resident", title: "Resident long requests", label: "cluster 1 + resident long requests", adds: true,
		about: fmt.Sprintf("Cluster 1, and one thing more: every consumer keeps %d long requests (%s on average: streams, long polls, exports) at each of the old providers. They count as calls under way; together they take %.1f %% of the CPU of an old provider. The new provider begins without any.",
			resident, brief(residentTime), 100*resident*consumers*residentCPU/workers),
	}
	residents.scenario = base(light)
	residents.scenario.Long = &sim.Long{Each: resident, Lasts: residentTime, CPU: residentCPU}

	leaks := cause{
		key: "leaked", title: "Leaked counts", label: "cluster 1 + leaked counts", adds: true,
		about: fmt.Sprintf("Cluster 1 without the long requests, and one thing more: every consumer has lost %d calls per old provider: its counter of calls under way was raised and never lowered, as several faults of Dubbo for Java do. gofer's counters come home on every path, so for gofer this cluster is cluster 1.", leaked),
	}
	leaks.scenario = base(light)
	leaks.scenario.Providers[0].Leaked = leaked

	cpu := cause{
		key: "cpu", title: "A cold start that costs CPU only", label: "a cold start in CPU only",
		about: fmt.Sprintf("No long requests, no leaks, and other calls than in cluster 1: %s of CPU and %s of waiting for a database, at %.0f %% of what the cluster can take. Cold code needs %d times the CPU and waits no longer, so a call takes %s on the new provider and %s on the others, and costs %d times the CPU.",
			ms(queryWork), ms(queryWait), 100*moderate, slower, ms(slower*queryWork+queryWait), ms(queryWork+queryWait), slower),
	}
	cpu.scenario = base(moderate)
	cpu.scenario.Requests[0] = sim.Request{Mean: queryWork, Wait: queryWait}
	cpu.scenario.Rate = moderate * capacity * float64(work) / float64(queryWork)

	busy := cause{
		key: "busy", title: "What the cures cost", label: "weight skipped, a busy cluster",
		about: fmt.Sprintf("Cluster 1 with %.0f times the load, %.0f %% of what it can take; the third provider was there before, and is restarted within %s at its address. The other two alone can take %.0f %%: where the new provider gets nothing, a queue grows until calls fail.",
			heavy/light, 100*heavy, brief(away), 100*alone),
	}
	busy.scenario = base(heavy)
	busy.scenario.Providers[1].Joins = nil
	busy.scenario.Providers[1].Faults = []sim.Fault{{At: before - away, For: away, Leave: true}}
	return []cause{blamed, residents, leaks, cpu, busy}
}

// cluster is one in which the mechanism usually blamed is tried with nothing else.
type cluster struct {
	consumers int
	load      float64
}

// clusters are those in which the mechanism is tried alone: the first cause's, and
// those in which fewer consumers, or more load, could make it stronger.
func clusters() []cluster {
	return []cluster{{consumers, light}, {1, light}, {1, 0.5}, {1, heavy}, {consumers, 0.5}, {100, 0.7}}
}

// drowning tells whether the old providers cannot carry the load alone.
func (c cluster) drowning() bool { return c.load > alone }

func (c cluster) String() string {
	if c.consumers == 1 {
		return fmt.Sprintf("1 consumer, %.0f %%", 100*c.load)
	}
	return fmt.Sprintf("%d consumers, %.0f %%", c.consumers, 100*c.load)
}

func (c cluster) cause() cause {
	s := base(c.load)
	s.Consumers = c.consumers
	return cause{label: c.String(), scenario: s}
}
