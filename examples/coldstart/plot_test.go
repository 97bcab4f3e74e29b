package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLabelsStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted := rapid.SliceOfN(rapid.Float64Range(plotTop, plotBottom), 1, 12).Draw(t, "heights")
		slices.Sort(wanted)
		got := spread(wanted, labelGap, plotTop, plotBottom)
		if len(got) != len(wanted) {
			t.Fatalf("%d places for %d labels", len(got), len(wanted))
		}
		for i, at := range got {
			if at < plotTop-1e-6 || at > plotBottom+1e-6 {
				t.Fatalf("label %d at %v", i, at)
			}
			if i > 0 && at-got[i-1] < labelGap-1e-6 {
				t.Fatalf("labels %d and %d are at %v and %v", i-1, i, got[i-1], at)
			}
		}
	})
	assert.Equal(t, []float64{50, 100}, spread([]float64{50, 100}, 15, 0, 200), "no need to move")
	assert.Equal(t, []float64{92.5, 107.5}, spread([]float64{100, 100}, 15, 0, 200), "both move as far")
	assert.Equal(t, []float64{170, 185, 200}, spread([]float64{200, 200, 200}, 15, 0, 200), "not over the edge")
}

func TestDrawingsStayWithinTheirBounds(t *testing.T) {
	r := story(t)
	coordinate := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.False(t, math.IsNaN(v))
		return v
	}
	for i := range r.causes {
		for _, q := range quantities() {
			drawing := parse(t, []byte(r.plot(i, q)))
			for _, e := range drawing {
				switch e.name {
				case "polyline":
					for p := range strings.FieldsSeq(e.attrs["points"]) {
						x, y, ok := strings.Cut(p, ",")
						require.True(t, ok)
						assert.True(t, coordinate(x) >= plotLeft && coordinate(x) < plotWidth, p)
						assert.True(t, coordinate(y) >= plotTop-0.1 && coordinate(y) <= plotBottom+0.1, p)
					}
				case "text":
					wide := 7.8 * float64(utf8.RuneCountInString(e.text)) // of the widest common font at 13
					x := coordinate(e.attrs["x"])
					switch e.attrs["text-anchor"] {
					case "start":
						assert.LessOrEqual(t, x+wide, plotWidth, e.text)
					case "end":
						assert.GreaterOrEqual(t, x-wide, -4.0, e.text)
					}
				}
			}
		}
	}
}

func TestTheScaleOfTime(t *testing.T) {
	for _, after := range []time.Duration{10 * time.Second, 17 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute} {
		r := &results{config: config{after: after}}
		ticks := r.times()
		assert.Zero(t, ticks[0])
		assert.True(t, len(ticks) >= 3 && len(ticks) <= 11, "%v: %v", after, ticks)
		assert.LessOrEqual(t, ticks[len(ticks)-1], after)
	}
	assert.Equal(t, "5 min", clock(5*time.Minute))
	assert.Equal(t, "90 s", clock(90*time.Second))
}

func TestTheScalesOfValues(t *testing.T) {
	for _, q := range quantities() {
		first, last := q.ticks[0], q.ticks[len(q.ticks)-1]
		assert.InDelta(t, 0, q.height(first.value), 1e-9)
		assert.InDelta(t, 1, q.height(last.value), 1e-9)
		assert.InDelta(t, 0, q.height(first.value/2-1), 1e-9, "what is too low is at the edge")
		assert.InDelta(t, 1, q.height(last.value*2), 1e-9)
	}
}
