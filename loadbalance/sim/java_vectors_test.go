package sim

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vectors reads a file of golden vectors, computed with Java.
func vectors(t *testing.T, file string, to any) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, to))
}

func TestJavaWeights(t *testing.T) {
	var v struct{ Rows, Effective [][]int64 }
	vectors(t, "../testdata/warmup.json", &v)
	require.Greater(t, len(v.Rows), 1000)
	require.Len(t, v.Effective, 150)
	for _, r := range v.Rows {
		assert.Equal(t, r[3:], []int64{linear(r[0], r[1], r[2]), quadratic(r[0], r[1], r[2])}, r)
	}
	for _, r := range v.Effective {
		now, start, warmup, weight := r[0], r[1], r[2], r[3]
		got := []int64{weight26(now, start, warmup, weight), weight3(now, start, warmup, weight), weight27(now, start, warmup, weight)}
		assert.Equal(t, r[4:], got, r)
	}
}

func TestJavaSmoothRoundRobin(t *testing.T) {
	var v struct {
		Static []struct {
			Weights []int64
			Seq     []int
			Current []int64
		}
		Dynamic []struct {
			Name  string
			Steps []struct {
				In  []string
				W   []int64
				T   int64
				Sel string
				Cur map[string]int64
			}
		}
	}
	vectors(t, "../testdata/roundrobin_smooth.json", &v)
	require.Len(t, v.Static, 26)
	require.Len(t, v.Dynamic, 9)
	for _, c := range v.Static {
		var s smoothly
		ids := make([]string, len(c.Weights))
		for i := range ids {
			ids[i] = strconv.Itoa(i)
		}
		for k, want := range c.Seq {
			got := s.next(ids, func(i int) int32 { return int32(c.Weights[i]) }, 0)
			require.Equal(t, want, got, "%v, call %d", c.Weights, k)
		}
		for i, want := range c.Current {
			assert.Equal(t, want, s.state[ids[i]].current, "%v: what %d is owed", c.Weights, i)
		}
	}
	for _, c := range v.Dynamic {
		var s smoothly
		for k, step := range c.Steps {
			got := s.next(step.In, func(i int) int32 { return int32(step.W[i]) }, step.T)
			require.Equal(t, step.Sel, step.In[got], "%s, step %d", c.Name, k)
			current := map[string]int64{}
			for id, turn := range s.state {
				current[id] = turn.current
			}
			require.Equal(t, step.Cur, current, "%s, step %d", c.Name, k)
		}
	}
}

func TestJavaLegacyRoundRobin(t *testing.T) {
	type step struct {
		Weights []int32
		Sel     int
	}
	var v struct {
		Cases []struct {
			Weights []int32
			Start   int32
			Seq     []int
		}
		Changes [][]step
	}
	vectors(t, "testdata/roundrobin_legacy.json", &v)
	require.Len(t, v.Cases, 61)
	require.Len(t, v.Changes, 3)
	for _, c := range v.Cases {
		s := sequence{counter: c.Start}
		for k, want := range c.Seq {
			require.Equal(t, want, s.next(c.Weights), "%v from %d, call %d", c.Weights, c.Start, k)
		}
	}
	for i, steps := range v.Changes {
		var s sequence
		for k, step := range steps {
			require.Equal(t, step.Sel, s.next(step.Weights), "trace %d, step %d", i, k)
		}
	}
}

// javaBits is a float64 as its bits in hex.
type javaBits float64

func (b *javaBits) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*b = javaBits(math.Float64frombits(n))
	return err
}

func sameBits(t *testing.T, want javaBits, got float64, about ...any) {
	t.Helper()
	require.Equal(t, math.Float64bits(float64(want)), math.Float64bits(got), about...)
}

type metricsVector struct {
	ProviderTime int64 `json:"provider_time"`
	LastLatency  int64 `json:"last_latency"`
	CurrentTime  int64 `json:"current_time"`
	PickTime     int64 `json:"pick_time"`
	Req, OK, Err int64
	CPU          javaBits `json:"cpu_bits"`
	EWMA         javaBits `json:"ewma_bits"`
}

func (v metricsVector) metrics() javaMetrics {
	return javaMetrics{
		providerTime: v.ProviderTime, currentTime: v.CurrentTime, cpu: float64(v.CPU), lastLatency: v.LastLatency,
		pickTime: v.PickTime, req: v.Req, ok: v.OK, err: v.Err, ewma: float64(v.EWMA),
	}
}

type adaptiveVectors struct {
	Loads []struct {
		State           metricsVector
		Now             int64
		Weight, Timeout int32
		Load            javaBits `json:"load_bits"`
		After           metricsVector
	}
	Updates []struct {
		State, After metricsVector
		Map          map[string]string
	}
	Traces []struct {
		Name            string
		Weight, Timeout int32
		T0              int64
		Events          []struct {
			T           int64
			Ev          string
			Map         map[string]string
			Load        javaBits `json:"load_bits"`
			LastLatency int64    `json:"last_latency"`
			CurrentTime int64    `json:"current_time"`
			EWMA        javaBits `json:"ewma_bits"`
		}
	}
	Compare []struct {
		A, B   javaBits
		Text   string
		Winner string
	}
}

func readAdaptive(t *testing.T) (v adaptiveVectors) {
	vectors(t, "../testdata/adaptive_load.json", &v)
	return v
}

func TestJavaAdaptiveLoads(t *testing.T) {
	v := readAdaptive(t)
	require.Len(t, v.Loads, 221)
	for i, row := range v.Loads {
		m := row.State.metrics()
		sameBits(t, row.Load, m.load(row.Now, row.Weight, row.Timeout), "row %d", i)
		require.Equal(t, row.After.LastLatency, m.lastLatency, "row %d", i)
		require.Equal(t, row.After.CurrentTime, m.currentTime, "row %d", i)
		sameBits(t, row.After.EWMA, m.ewma, "row %d", i)
	}
}

func TestJavaAdaptiveUpdates(t *testing.T) {
	v := readAdaptive(t)
	require.Len(t, v.Updates, 28)
	for i, row := range v.Updates {
		m := row.State.metrics()
		m.update(row.Map)
		require.Equal(t, row.After.metrics(), m, "row %d: %v", i, row.Map)
	}
}

func TestJavaAdaptiveTraces(t *testing.T) {
	v := readAdaptive(t)
	require.Len(t, v.Traces, 5)
	for _, trace := range v.Traces {
		m := javaMetrics{pickTime: trace.T0}
		for i, e := range trace.Events {
			switch e.Ev {
			case "pick":
				m.req++
				m.pickTime = e.T
			case "err":
				m.err++
			case "ok":
				m.ok++
				if e.Map != nil {
					m.update(e.Map)
				}
			case "load":
				sameBits(t, e.Load, m.load(e.T, trace.Weight, trace.Timeout), "%s, event %d", trace.Name, i)
				require.Equal(t, e.LastLatency, m.lastLatency, "%s, event %d", trace.Name, i)
				require.Equal(t, e.CurrentTime, m.currentTime, "%s, event %d", trace.Name, i)
				sameBits(t, e.EWMA, m.ewma, "%s, event %d", trace.Name, i)
			}
		}
	}
}

func TestJavaAdaptiveCompares(t *testing.T) {
	v := readAdaptive(t)
	require.Len(t, v.Compare, 15)
	winner := map[int]string{-1: "first", 0: "tie", 1: "second"}
	for _, row := range v.Compare {
		assert.Equal(t, row.Winner, winner[javaCompare(float64(row.A), float64(row.B))], row.Text)
	}
}

func TestJavaConsistentHash(t *testing.T) {
	var v struct {
		Lists map[string][]string
		Keys  []string
		Picks []struct {
			List  string
			Nodes int
			Picks []int32
		}
		Bounded []struct {
			List  string
			Nodes int
			Calls []int
			Picks []int32
		}
	}
	vectors(t, "../testdata/consistenthash.json", &v)
	require.Len(t, v.Picks, 16)
	require.Len(t, v.Bounded, 3)
	for _, c := range v.Picks {
		r := newJavaRing(v.Lists[c.List], c.Nodes)
		for k, want := range c.Picks {
			require.Equal(t, want, r.owner[r.hit(v.Keys[k])], "%s, %d points, key %s", c.List, c.Nodes, v.Keys[k])
		}
	}
	for _, c := range v.Bounded {
		list := v.Lists[c.List]
		r := newJavaRing(list, c.Nodes)
		for i, key := range c.Calls {
			require.Equal(t, c.Picks[i], r.bounded(v.Keys[key], list), "%s, call %d", c.List, i)
		}
	}
}
