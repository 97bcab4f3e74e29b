package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// crowd is a fleet in which one of four is ejected for timeouts.
func crowd(t *testing.T, parameters string) *fleet {
	f := newFleet(t, 4, parameters)
	for range 5 {
		f.timeout(f.at(0))
	}
	f.pass(time.Second)
	require.Equal(t, []int{0}, f.ejected())
	return f
}

// timeout is a call that times out now.
func (f *fleet) timeout(n *protocol.Node) {
	a := f.begin(n)
	a.inv.Begun = a.inv.Begun.Add(-time.Second)
	a.end(time.Second, errLate)
}

// second is one in which so many calls are answered, and so many time out, at those
// that are in service.
func (f *fleet) second(answered, lost int) {
	for i := range 50 {
		for k := range answered/50 + lost/50 {
			n := f.at(1 + (i+k)%3)
			switch {
			case n.Ejected():
				continue
			case k < lost/50:
				f.timeout(n)
			}
			f.begin(n).end(0, nil) // there is no row
		}
		f.pass(20 * time.Millisecond)
	}
}

// When those that are left lose calls, the others come back.
func TestEjectionsAreRegretted(t *testing.T) {
	for _, c := range []struct {
		parameters     string
		answered, lost int
		seconds        int
		regretted      bool
	}{
		{"", 100, 100, 2, true},
		{"", 500, 300, 2, true},
		{"", 2000, 50, 10, false},
		{"", 200, 0, 10, false},
		{"outlier.failures=90", 100, 50, 2, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			f := newFleet(t, 4, c.parameters)
			for range 90 {
				f.timeout(f.at(0))
			}
			f.pass(time.Second)
			require.Equal(t, []int{0}, f.ejected())
			for range c.seconds {
				f.second(c.answered, c.lost)
			}
			if !c.regretted {
				require.Equal(t, []int{0}, f.ejected())
				return
			}
			require.Empty(t, f.ejected())
			news := f.logs.FilterMessage("a provider that was ejected is back").All()
			require.Len(t, news, 1)
			assert.Contains(t, news[0].ContextMap()["reason"], "calls were lost without it: timeouts eject nobody for 30s")
		})
	}
}

// What nobody answers in its time tells nothing about the load.
func TestTimeoutsOfAllAreNotRegretted(t *testing.T) {
	f := crowd(t, "")
	long := f.methods.Slot("long")
	for i := range 6 { // so it has been for some time
		f.late(f.at(1+i%2), long, 1)
		f.answer(f.at(1+i%2), f.slot)
	}
	for range 200 {
		f.late(f.at(1), long, 1)
		f.answer(f.at(1), f.slot)
		f.late(f.at(2), long, 1)
		f.answer(f.at(2), f.slot)
		f.pass(-1950 * time.Millisecond)
	}
	assert.Equal(t, []int{0}, f.ejected())
	f.answer(f.at(3), long)
	for range 60 {
		f.late(f.at(1), long, 1)
		f.answer(f.at(1), long)
		f.pass(-950 * time.Millisecond)
	}
	assert.Empty(t, f.ejected())
}

// Who is out because it fails stays out.
func TestFailuresAreNotRegretted(t *testing.T) {
	f := crowd(t, "")
	f.calls(f.at(1), 5, errLost)
	require.Equal(t, []int{0, 1}, f.ejected())
	for range 2 {
		f.second(100, 100)
	}
	assert.Equal(t, []int{1}, f.ejected())
}

// Then timeouts eject nobody for a while, for longer each time, and failures still do.
func TestTimeoutsAreTolerated(t *testing.T) {
	f := crowd(t, "")
	for _, seconds := range []int{30, 60, 120, 240, 240} {
		f.second(100, 100)
		f.second(100, 100)
		require.Empty(t, f.ejected(), seconds)
		for range seconds - 5 {
			f.timeout(f.at(0))
			f.pass(time.Second)
		}
		require.Empty(t, f.ejected(), "%d s", seconds)
		f.calls(f.at(1), 5, errLost)
		require.Equal(t, []int{1}, f.ejected(), "%d s", seconds)
		f.pass(time.Second)
		f.pass(time.Second)
		for {
			a := f.trial()
			if a != nil {
				a.end(0, nil)
				break
			}
			f.pass(time.Second)
			f.timeout(f.at(0))
		}
		for !f.at(0).Ejected() {
			f.pass(time.Second)
			f.timeout(f.at(0))
		}
	}
}

// Without a timeout for seconds the overload is over, and who hangs then is out soon.
func TestTolerationEnds(t *testing.T) {
	f := crowd(t, "")
	f.second(100, 100)
	f.second(100, 100)
	require.Empty(t, f.ejected())
	for range 5 {
		f.second(100, 0)
	}
	for range 5 {
		f.timeout(f.at(2))
	}
	assert.Equal(t, []int{2}, f.ejected())
}

// Timeouts and refusals for a limit in one row are a load, and no other failure.
func TestMixedRowIsALoad(t *testing.T) {
	f := newFleet(t, 4, "")
	for range 3 {
		f.timeout(f.at(0))
		f.calls(f.at(0), 1, errLimit)
	}
	f.pass(time.Second)
	require.Equal(t, []int{0}, f.ejected())
	f.second(100, 100)
	f.second(100, 100)
	assert.Empty(t, f.ejected())
}
