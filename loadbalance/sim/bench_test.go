package sim

import (
	"testing"
	"time"
)

func BenchmarkEvents(b *testing.B) {
	s := &Scenario{Name: "bench", Duration: 10 * time.Second, Providers: []Provider{{Count: 10}}}
	for _, policy := range []string{"random", "leastactive", "leastload", "java-leastactive", "oracle"} {
		b.Run(policy, func(b *testing.B) {
			events := 0
			for b.Loop() {
				r, err := Run(b.Context(), s, Options{Policy: policy})
				if err != nil {
					b.Fatal(err)
				}
				events += r.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
