package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// late makes calls of a method at a node that time out, each after a second.
func (f *fleet) late(n *protocol.Node, slot, count int) {
	for range count {
		a := &attempt{f: f, inv: f.invocation()}
		a.inv.Method.Slot = slot
		a.start(n)
		f.pass(time.Second)
		a.end(time.Second, errLate)
	}
}

// What times out wherever it is asked for says nothing about one of them.
func TestTimeoutsThatAllHaveAlike(t *testing.T) {
	for name, c := range map[string]struct {
		calls   func(f *fleet, long int)
		ejected []int
	}{
		"later only at the one": {func(f *fleet, long int) {
			f.late(f.at(0), long, 1)
			f.late(f.at(1), long, 1)
			f.late(f.at(0), long, 10)
		}, []int{0}},
		"at both":                       {func(f *fleet, long int) { f.alternate(long, 20) }, nil},
		"nobody else is asked":          {func(f *fleet, long int) { f.late(f.at(0), long, 5) }, []int{0}},
		"another method at the other":   {func(f *fleet, long int) { f.late(f.at(1), f.slot, 2); f.late(f.at(0), long, 5) }, []int{0}},
		"another answers then":          {func(f *fleet, long int) { f.alternate(long, 8); f.answer(f.at(2), long); f.late(f.at(0), long, 1) }, []int{0}},
		"another answers another":       {func(f *fleet, long int) { f.alternate(long, 8); f.answer(f.at(2), f.slot); f.late(f.at(0), long, 1) }, nil},
		"the other long before":         {func(f *fleet, long int) { f.late(f.at(1), long, 1); f.pass(time.Minute); f.late(f.at(0), long, 5) }, []int{0}},
		"a method that others answer":   {func(f *fleet, long int) { f.alternate(long, 8); f.late(f.at(0), f.slot, 1) }, []int{0}},
		"the connection is lost at all": {func(f *fleet, long int) { f.alternate(long, 8); f.calls(f.at(0), 1, errLost) }, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 4, "")
			c.calls(f, f.methods.Slot("long"))
			assert.Equal(t, c.ejected, f.ejected())
		})
	}
}

// alternate has a method time out at two nodes in turn.
func (f *fleet) alternate(slot, count int) {
	for i := range count {
		f.late(f.at(i%2), slot, 1)
	}
}

func (f *fleet) answer(n *protocol.Node, slot int) {
	a := &attempt{f: f, inv: f.invocation()}
	a.inv.Method.Slot = slot
	a.start(n)
	a.end(0, nil)
}

// A trial by a method that nobody answers is none: the next call is it.
func TestTrialOfWhatNobodyAnswers(t *testing.T) {
	f := newFleet(t, 2, "")
	n := f.at(0)
	f.late(n, f.slot, 5)
	require.Equal(t, []int{0}, f.ejected())
	f.pass(time.Second)
	a := f.trial()
	require.NotNil(t, a)
	f.late(f.at(1), f.slot, 1)
	a.end(time.Second, errLate)
	require.Equal(t, []int{0}, f.ejected())
	assert.Equal(t, 1, f.out.Ejection(n).Trips)
	b := f.trial()
	require.NotNil(t, b, "at once")
	f.answer(f.at(1), f.slot)
	b.end(time.Second, errLate)
	assert.Equal(t, 2, f.out.Ejection(n).Trips, "others answer it")
}
