package sim_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gofer-rpc/gofer/loadbalance/sim"
)

// One's own cluster: one of three providers is restarted and is slow at first. How
// many of the calls does it get in its cold seconds, and how slow is one call in a
// hundred?
func Example() {
	s, err := sim.Parse("shop.yml", []byte(`
consumers: 20
load: 0.6
requests: [{mean: 8ms}]
providers:
  - count: 2
    workers: 8
  - workers: 8
    cold: {slow: 3, for: 20s, heal: 10s}
    faults: [{at: 10s, for: 5s, leave: true}]
`))
	if err != nil {
		log.Fatal(err)
	}
	cold := func(policy string) (share float64, r *sim.Result) {
		r, err := sim.Run(context.Background(), s, sim.Options{Policy: policy, Seed: 1, Detail: true})
		if err != nil {
			log.Fatal(err)
		}
		var there, all int
		for _, second := range r.Seconds[16:35] {
			for i, calls := range second.Calls {
				all += calls
				if i == 2 {
					there += calls
				}
			}
		}
		return float64(there) / float64(all), r
	}
	java, j := cold("java-leastactive")
	ours, o := cold("leastload")
	fmt.Println("the cold provider gets less of the calls:", ours < java)
	fmt.Println("one call in a hundred is faster:", o.P99 < j.P99)
	// Output:
	// the cold provider gets less of the calls: true
	// one call in a hundred is faster: true
}
