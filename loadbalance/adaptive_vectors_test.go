package loadbalance

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// float64Bits is a float64 as its bits in hex.
type float64Bits float64

func (b *float64Bits) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*b = float64Bits(math.Float64frombits(n))
	return err
}

type adaptiveVectors struct {
	Loads []struct {
		State struct {
			LastLatency int64 `json:"last_latency"`
			CurrentTime int64 `json:"current_time"`
			Req, OK     int64
			Err         int64
			CPU         float64Bits `json:"cpu_bits"`
			EWMA        float64Bits `json:"ewma_bits"`
		}
		Weight float64
		Load   float64Bits `json:"load_bits"`
		After  struct {
			LastLatency int64       `json:"last_latency"`
			CurrentTime int64       `json:"current_time"`
			EWMA        float64Bits `json:"ewma_bits"`
		}
	}
	Compare []struct {
		A, B   float64Bits
		Text   string
		Winner string
	}
}

func readAdaptiveVectors(t *testing.T) (v adaptiveVectors) {
	text, err := os.ReadFile("testdata/adaptive_load.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// The formula is Java's to the bit: where Java's read changes nothing, and where it
// does so with what it leaves behind. Loads of 0 are Java's for unknown or idle (F5).
func TestAdaptiveLoadVectors(t *testing.T) {
	pure, all := 0, 0
	for i, row := range readAdaptiveVectors(t).Loads {
		s, after := row.State, row.After
		if s.CPU == 0 || row.Load == 0 {
			continue
		}
		all++
		if s.LastLatency == after.LastLatency && s.CurrentTime == after.CurrentTime && s.EWMA == after.EWMA {
			pure++
		}
		load := adaptiveLoad(float64(s.CPU), float64(after.EWMA), float64(s.Req-s.OK-s.Err), float64(s.OK), float64(s.Req), row.Weight)
		assert.Equal(t, math.Float64bits(float64(row.Load)), math.Float64bits(load), "row %d", i)
	}
	assert.Equal(t, 32, pure)
	assert.Greater(t, all, pure)
}

// Loads without a sign compare as in Java, by their values (F19).
func TestAdaptiveCompareVectors(t *testing.T) {
	compared := 0
	for _, row := range readAdaptiveVectors(t).Compare {
		a, b := float64(row.A), float64(row.B)
		if math.Signbit(a) || math.Signbit(b) || math.IsNaN(a+b) || math.IsInf(a+b, 0) {
			continue
		}
		compared++
		odds := odds(&burden{score: a, weight: 100}, &burden{score: b, weight: 100})
		low, high := happens(odds, 0), happens(odds, math.MaxUint64)
		switch row.Winner {
		case "first":
			assert.True(t, low && high, row.Text)
		case "second":
			assert.False(t, low || high, row.Text)
		case "tie":
			assert.True(t, low && !high, row.Text)
		default:
			t.Errorf("%s: unknown winner %q", row.Text, row.Winner)
		}
	}
	assert.GreaterOrEqual(t, compared, 4)
}
