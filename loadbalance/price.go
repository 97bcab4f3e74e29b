package loadbalance

import (
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// price returns what an attempt counts as having taken, given what is usual there and
// anywhere. It counts unless it says nothing about the provider, as the end of a one-way
// call that nobody answers. An exception is an answer, but that it came quickly says
// nothing good (F4): it counts as what is usual at least, and an answer of no use as 8
// times that. A failure costs the provider's
// timeout at least, however short the caller's own is. A timeout before that one only
// tells that the answer would have taken longer: as much longer as is usual there, up to
// the provider's timeout; early says so. A caller that cancels tells the same, if it waited
// for long.
func price(inv *protocol.Invocation, o protocol.Outcome, there, anywhere time.Duration) (took time.Duration, counts, early bool) {
	took = max(0, o.Elapsed)
	timeout := timeoutAt(inv.Node, inv.Method.Slot)
	switch {
	case o.Verdict == protocol.Succeeded && o.Err != nil:
		return max(took, anywhere), !inv.OneWay, false
	case o.Verdict == protocol.Succeeded:
		return took, !inv.OneWay, false
	case o.Verdict == protocol.Useless:
		return max(took, min(slowestAnswer*anywhere, timeout)), true, false
	case gaveUp(inv, o), there > 0 && protocol.CanceledLate(o, there):
		return min(took+there, timeout), true, true
	case o.Verdict == protocol.TimedOut, o.Verdict == protocol.Failed:
		return max(took, timeout), true, false
	}
	return 0, false, false
}

// gaveUp reports whether an attempt timed out by its caller's deadline, well before the
// provider's timeout.
func gaveUp(inv *protocol.Invocation, o protocol.Outcome) bool {
	return o.Verdict == protocol.TimedOut && protocol.EndingOf(inv, o) == protocol.EndedGivenUp
}

// timeoutAt returns the timeout of a method at a node.
func timeoutAt(n *protocol.Node, slot int) time.Duration { return n.Method(slot).Timeout }
