package loadbalance

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseReport(t *testing.T) {
	for answer, want := range map[any]float64{
		"curTime:1700000000000,load:12.5":       12.5,
		"load:12.5":                             12.5,
		"load:12.5,curTime:1700000000000":       12.5,
		" load : 12.5 , other:1":                12.5,
		"curTime:1700000000000,load:1.0E-4":     1e-4,
		"curTime:1700000000000,load:1.25E2":     125,
		"curTime:1700000000000,load:1.0E300":    mostReport,
		"curTime:1700000000000,load:0.0":        0,
		"curTime:1700000000000,load:-0.0":       0,
		"curTime:1700000000000,load:-25.0":      0,
		"curTime:1700000000000,load:NaN":        0,
		"curTime:1700000000000,load:Infinity":   0,
		"curTime:1700000000000,load:1.0E400":    0,
		"curTime:1700000000000,load:.":          0,
		"curTime:1700000000000,load:":           0,
		"curTime:1700000000000,load":            0,
		"curTime:1700000000000":                 0,
		"reload:12.5":                           0,
		",,:,:":                                 0,
		"":                                      0,
		"load:" + strings.Repeat("1", 300):      0,
		"load:0," + strings.Repeat("load:9", 9): 0,
		12.5:                                    0,
		true:                                    0,
		nil:                                     0,
	} {
		assert.Equal(t, want, parseReport(answer), "%#v", answer)
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add("curTime:1700000000000,load:12.5")
	f.Add("load:1e-400,load:0x1p-2,:")
	f.Fuzz(func(t *testing.T, answer string) {
		load := parseReport(answer)
		if load < 0 || load > mostReport || math.IsNaN(load) {
			t.Errorf("%q reports %v", answer, load)
		}
	})
}
