package loadbalance_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/loadbalance"
)

// readVectors decodes a file of testdata.
func readVectors(tb testing.TB, name string, into any) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(data, into))
}

type warmupVectors struct {
	Rows       [][5]int64 // uptime, warmup, weight, linear, quadratic
	Thresholds []struct {
		Warmup int64
		Weight int
		Ramp   string
		Steps  [][2]int64 // uptime, weight from then on
	}
}

var ramps = map[string]loadbalance.Ramp{"linear": loadbalance.LinearRamp, "quadratic": loadbalance.QuadraticRamp}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// within is the whole rule of a ramp inside the warm-up.
func within(r loadbalance.Ramp, uptime, warmup int64, weight int) int {
	return min(max(r(ms(uptime), ms(warmup), weight), 1), weight)
}

func TestWarmupVectorRows(t *testing.T) {
	var v warmupVectors
	readVectors(t, "warmup.json", &v)
	require.NotEmpty(t, v.Rows)
	for _, row := range v.Rows {
		up, warmup, weight := row[0], row[1], int(row[2])
		assert.Equal(t, int(row[3]), within(loadbalance.LinearRamp, up, warmup, weight), "linear %v", row)
		assert.Equal(t, int(row[4]), within(loadbalance.QuadraticRamp, up, warmup, weight), "quadratic %v", row)
	}
}

// The rows again, through a provider's parameters and start time.
func TestWeightVectorRows(t *testing.T) {
	var v warmupVectors
	readVectors(t, "warmup.json", &v)
	f := newFleet()
	for _, row := range v.Rows {
		up, warmup, weight := row[0], row[1], row[2]
		n := f.node(params{"weight": fmt.Sprint(weight), "warmup": fmt.Sprint(warmup)}, ms(up))
		assert.Equal(t, int(row[3]), loadbalance.Weight(n.Method(f.method.Slot), n.Life().Start, f.clock.now()), "%v", row)
	}
}

func TestWarmupVectorThresholds(t *testing.T) {
	var v warmupVectors
	readVectors(t, "warmup.json", &v)
	require.NotEmpty(t, v.Thresholds)
	for _, th := range v.Thresholds {
		t.Run(fmt.Sprintf("%s/%d/%d", th.Ramp, th.Warmup, th.Weight), func(t *testing.T) {
			ramp := ramps[th.Ramp]
			require.NotNil(t, ramp)
			require.EqualValues(t, 1, th.Steps[0][0])
			for i, step := range th.Steps {
				assert.EqualValues(t, step[1], within(ramp, step[0], th.Warmup, th.Weight), "at %d ms", step[0])
				last := th.Warmup - 1
				if i+1 < len(th.Steps) {
					last = th.Steps[i+1][0] - 1
				}
				assert.EqualValues(t, step[1], within(ramp, last, th.Warmup, th.Weight), "at %d ms", last)
			}
		})
	}
}

func TestWeight(t *testing.T) {
	const now = 0
	for _, tt := range []struct {
		name   string
		params params
		start  time.Duration // before now; noStart: unknown
		want   int
	}{
		{"default", params{}, noStart, 100},
		{"no start", params{"weight": "40"}, noStart, 40},
		{"B079: starts in ten minutes", warm(100), -10 * time.Minute, 1},
		{"B079: started 30 days ago", warm(100), 30 * 24 * time.Hour, 100},
		{"F28: starts now", warm(100), now, 1},
		{"one millisecond", warm(100), time.Millisecond, 1},
		{"half of the warm-up", warm(100), 5 * time.Minute, 50},
		{"single precision as in Java", warm(14), 5 * time.Minute, 6},
		{"last millisecond", warm(100), 10*time.Minute - time.Millisecond, 99},
		{"warmed up", warm(100), 10 * time.Minute, 100},
		{"F17: 32-bit milliseconds later", warm(100), 1<<32*time.Millisecond + time.Minute, 100},
		{"warm-up off", params{"weight": "100", "warmup": "0"}, time.Second, 100},
		{"warm-up off, clock ahead", params{"weight": "100", "warmup": "0"}, -time.Minute, 100},
		{"short warm-up", params{"weight": "100", "warmup": "1000"}, 500 * time.Millisecond, 50},
		{"weight 0", warm(0), time.Minute, 0},
		{"weight 1", warm(1), time.Minute, 1},
		{"largest weight", params{"weight": "2147483647", "warmup": "0"}, noStart, math.MaxInt32},
		{"of the method", params{"weight": "100", methodName + ".weight": "7"}, noStart, 7},
		{"of another method", params{"weight": "100", "save.weight": "7"}, noStart, 100},
		{"of the method, warming up", params{methodName + ".weight": "50"}, 5 * time.Minute, 25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet()
			n := f.node(tt.params, 0)
			if tt.start != noStart {
				n.Update(n.URL(), f.clock.now().Add(-tt.start))
			}
			assert.Equal(t, tt.want, loadbalance.Weight(n.Method(f.method.Slot), n.Life().Start, f.clock.now()))
		})
	}
}

// noStart stands for a provider whose start is not known.
const noStart = math.MinInt64 * time.Nanosecond

// A start of 1970 is Java's "no timestamp".
func TestWeightOfEpochStart(t *testing.T) {
	f := newFleet()
	n := f.node(warm(100), 0)
	n.Update(n.URL(), time.UnixMilli(0))
	assert.Equal(t, 100, loadbalance.Weight(n.Method(f.method.Slot), n.Life().Start, time.UnixMilli(1000)))
}

func TestRampsNeverFall(t *testing.T) {
	for name, ramp := range ramps {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			warmup := rapid.Int64Range(2, 1<<31-1).Draw(t, "warmup")
			weight := rapid.IntRange(1, math.MaxInt32).Draw(t, "weight")
			early := rapid.Int64Range(1, warmup-1).Draw(t, "early")
			late := rapid.Int64Range(early, warmup-1).Draw(t, "late")
			a, b := within(ramp, early, warmup, weight), within(ramp, late, warmup, weight)
			assert.LessOrEqual(t, a, b)
			assert.GreaterOrEqual(t, a, 1)
			assert.LessOrEqual(t, b, weight)
		}))
	}
}

// Strategies see every step of the ramp in its millisecond, not earlier or later.
func TestStrategiesFollowTheRamp(t *testing.T) {
	var v warmupVectors
	readVectors(t, "warmup.json", &v)
	for _, th := range v.Thresholds {
		t.Run(fmt.Sprintf("%s/%d/%d", th.Ramp, th.Warmup, th.Weight), func(t *testing.T) {
			f := newFleet()
			f.add(params{"weight": strconv.Itoa(th.Weight), "warmup": fmt.Sprint(th.Warmup)}, ms(1))
			f.add(weight(1), 0)
			begin := f.clock.now().Add(-ms(1))
			draws := new(evenDraws)
			c, inv := f.list(), f.call()
			s := balancer(t, "random", loadbalance.Config{Now: f.clock.now, Rand: draws.next, Ramp: ramps[th.Ramp]})
			check := func(uptime, weight int64) {
				f.clock.ns.Store(begin.Add(ms(uptime)).UnixNano())
				draws.restart(200 * uint64(weight+1))
				other := 0
				for range 200 * (weight + 1) {
					other += f.index(t, s.Select(c, inv))
				}
				assert.InDelta(t, 200, other, 2, "at %d ms: weight %d", uptime, weight)
			}
			for i, step := range th.Steps[:min(10, len(th.Steps))] {
				if i > 0 {
					check(step[0]-1, th.Steps[i-1][1])
				}
				check(step[0], step[1])
			}
			check(th.Warmup, int64(th.Weight))
		})
	}
}

// evenDraws returns numbers evenly spread over all that 64 bits can be.
type evenDraws struct{ at, step uint64 }

func (d *evenDraws) restart(n uint64) { d.at, d.step = 0, math.MaxUint64/n }

func (d *evenDraws) next() uint64 {
	d.at += d.step
	return d.at
}
