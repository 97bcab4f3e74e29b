package gofer

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofer-rpc/gofer/protocol"
)

// Two of three fail, each in its way: each is found, once, and compared with who is well.
func TestDiagnoseSeveralFail(t *testing.T) {
	f := healthy("random")
	p := f.methods[0].providers
	for i := range 2 {
		p[i].Failed, p[i].FailedElapsed = 1000, 10*time.Second
	}
	p[0].Refused, p[0].RefusedElapsed = 1000, 10*time.Second
	found := diagnose(f)
	require.Len(t, found, 2)
	assert.Equal(t, [2]FindingKind{FindingRefusals, FindingFails}, [2]FindingKind{found[0].Kind, found[1].Kind})
	assert.Equal(t, p[1].address, found[1].Providers[0])
	assert.Contains(t, found[1].Text, "1000 of 1000 calls failed, after 10ms on average, where of its peers' 0 of 1000 did")
}

func TestOrdinal(t *testing.T) {
	var got []string
	for _, n := range []int{1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111, 112} {
		got = append(got, ordinal(n))
	}
	assert.Equal(t, []string{"1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th", "112th"}, got)
}

// The median of the others is that of a sorted list without the one.
func TestMedianOfOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m methodFigures
		for range rapid.IntRange(1, 9).Draw(t, "providers") {
			calls := rapid.SampledFrom([]int64{0, 29, 30, 1000}).Draw(t, "calls")
			mean := time.Duration(rapid.IntRange(1, 5).Draw(t, "mean"))
			m.providers = append(m.providers, providerFigures{counted: counted{Counters: protocol.Counters{Total: calls, Elapsed: mean * time.Duration(calls)}}})
		}
		m.sorted = m.means(-1, enoughCalls)
		for i := range m.providers {
			got, known := m.medianOfOthers(i)
			others := m.means(i, enoughCalls)
			require.Equal(t, len(others) > 0, known)
			if known {
				require.Equal(t, others[len(others)/2], got)
			}
		}
	})
}

func BenchmarkDiagnose(b *testing.B) {
	for _, balance := range []string{"random", "leastload"} {
		b.Run(balance, func(b *testing.B) {
			f := many(balance, 10_000)
			b.ReportAllocs()
			for b.Loop() {
				diagnose(f)
			}
		})
	}
}

// many is a fleet of so many providers, of which half have twice the calls of the others,
// as they are a little faster.
func many(balance string, n int) fleet {
	f := healthy(balance)
	f.providers, f.methods[0].providers = nil, nil
	for i := range n {
		p := well(fmt.Sprint(i))
		p.fair = 1 / float64(n)
		if i%2 == 0 {
			p.Total, p.calls = 3000, 3000
			p.Elapsed = 3000 * 9 * time.Millisecond
		}
		p.Elapsed += time.Duration(i)
		f.methods[0].providers = append(f.methods[0].providers, p)
	}
	f.providers = f.methods[0].providers
	return f
}
