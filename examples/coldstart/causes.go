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
	adds     bool   // it is the first cause's cluster, and one thing more
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

// capacity is what the cluster can take with the slow newcomer, in calls per second.
const capacity = workers * (2 + 1.0/slower) * float64(time.Second/work)

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
		about: "A provider that alone has the fewest calls under way gets the next call whatever its weight, so the warm-up of a new provider is skipped. Short requests, light load, and nothing else in the cluster.",
	}
	blamed.scenario = base(light)

	resident := cause{
		key: "resident", title: "Resident long requests", label: "and resident long requests", adds: true,
		about: "Every consumer keeps 2 long requests (10 minutes: streams, long polls, exports) at each of the old providers. They count as calls under way and take 4.5 % of a core each. The new provider has none.",
	}
	resident.scenario = base(light)
	resident.scenario.Long = &sim.Long{Each: 2, Lasts: 10 * time.Minute, CPU: 0.045}

	leaked := cause{
		key: "leaked", title: "Leaked counts", label: "and leaked counts", adds: true,
		about: "Every consumer has lost 2 calls per old provider: its counter of calls under way was raised and never lowered, as several faults of Dubbo for Java do. gofer's counters come home on every path, so for gofer this cluster is the first one.",
	}
	leaked.scenario = base(light)
	leaked.scenario.Providers[0].Leaked = 2

	cpu := cause{
		key: "cpu", title: "A cold start that costs CPU only", label: "a cold start in CPU only",
		about: "A call takes 4 ms of CPU and waits 60 ms for a database; cold code triples the first and not the second. So the new provider answers nearly as fast as the others, while each of its calls costs three times the CPU.",
	}
	cpu.scenario = base(moderate)
	cpu.scenario.Requests[0] = sim.Request{Mean: 4 * time.Millisecond, Wait: 60 * time.Millisecond}
	cpu.scenario.Rate = moderate * capacity * float64(work) / float64(4*time.Millisecond)

	busy := cause{
		key: "busy", title: "What the cures cost", label: "weight skipped, a busy cluster",
		about: "The first cluster with five times the load, 90 % of what it can do; the third provider is restarted within 2 s, at its address. The other two cannot carry the load alone: whoever keeps the new provider away drops calls.",
	}
	busy.scenario = base(heavy)
	busy.scenario.Providers[1].Joins = nil
	busy.scenario.Providers[1].Faults = []sim.Fault{{At: before - away, For: away, Leave: true}}
	return []cause{blamed, resident, leaked, cpu, busy}
}

// cluster is one in which the mechanism usually blamed is tried, too.
type cluster struct {
	consumers int
	load      float64
}

// clusters are those in which the lack of consumers, or load, could make the
// mechanism stronger than it is in the first cause.
func clusters() []cluster {
	return []cluster{{1, light}, {1, 0.5}, {1, heavy}, {10, 0.5}, {100, 0.7}}
}

func (c cluster) cause() cause {
	s := base(c.load)
	s.Consumers = c.consumers
	return cause{label: fmt.Sprintf("%d, %.0f %%", c.consumers, 100*c.load), scenario: s}
}
