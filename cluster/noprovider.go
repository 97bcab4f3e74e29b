package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// Bounds of what error texts enumerate.
const (
	maxReasons = 5
	maxHolders = 8
)

// NoProvider explains why a listing cannot serve: the funnel, filled up to the
// last stage, and what to do. service is the service key.
func NoProvider(service string, list *protocol.Listing) *protocol.NoProviderError {
	return explain(service, list, list.Candidates, "")
}

func (c *Invoker) noProvider(list *protocol.Listing, left *protocol.Candidates, rule string) error {
	return &protocol.Error{
		Code: protocol.ErrNoProvider, Retry: protocol.RetryNever,
		Cause: explain(c.reference.ServiceKey(), list, left, rule),
	}
}

func explain(service string, list *protocol.Listing, left *protocol.Candidates, rule string) *protocol.NoProviderError {
	f := list.Funnel
	f.Enabled, f.Routed, f.Available, f.Ejected, f.Rule = list.Candidates.Len(), left.Len(), 0, 0, rule
	f.Registered = max(f.Registered, f.Enabled-f.Kept)
	var reasons []protocol.Refusal
	for _, n := range left.Nodes() {
		if state := n.State(); state != protocol.Down {
			f.Available++
			if n.Ejected() {
				f.Ejected++
			}
		} else {
			reasons = addReason(reasons, n.Address(), n.Endpoint().StateReason())
		}
	}
	if f.Emptied() == protocol.StageAvailable {
		f.Refused = append(f.Refused[:len(f.Refused):len(f.Refused)], reasons...)
	}
	return &protocol.NoProviderError{Service: service, Funnel: f, Remedy: remedy(f)}
}

// addReason groups providers that are down for the same reason.
func addReason(reasons []protocol.Refusal, address string, err error) []protocol.Refusal {
	reason := downReason(err)
	for i := range reasons {
		if r := &reasons[i]; r.Reason == reason || i == maxReasons-1 {
			if r.Count++; r.Reason != reason {
				r.Reason = notConnected
			}
			r.Provider = fmt.Sprintf("%s and %d more", strings.Fields(r.Provider)[0], r.Count-1)
			return reasons
		}
	}
	return append(reasons, protocol.Refusal{Provider: address, Reason: reason, Count: 1})
}

const notConnected = "not connected"

// downReason says why a provider is down; nil is for no reason that is known.
func downReason(err error) string {
	if err == nil {
		return notConnected
	}
	return notConnected + ": " + strings.TrimPrefix(err.Error(), notConnected+": ")
}

// remedy is what to do, by the stage that lost the last provider.
func remedy(f protocol.Funnel) string {
	switch f.Emptied() {
	case protocol.StageRegistered:
		return "check that a provider of this interface is running and registered at this registry and root"
	case protocol.StageEnabled:
		return "every registered provider was refused: compare group, version and protocol with the reference, and look for rules that disable them"
	case protocol.StageRouted:
		return "the routing rules leave nobody for this call: change the rule or start a provider that it allows"
	case protocol.StageAvailable:
		return "no connection to any of them is up: check their addresses and the network between"
	}
	return ""
}

// saturated is the error of a call that waited for a slot in vain: it says who
// holds the slots.
func (c *Invoker) saturated(left *protocol.Candidates, inv *protocol.Invocation, s *selection, cause error) error {
	slot := inv.Method.Slot
	var b strings.Builder
	fmt.Fprintf(&b, "waited %v for a free slot under actives; in use: ", time.Since(s.begun).Round(time.Millisecond))
	listed, more := 0, 0
	for _, n := range left.Nodes() {
		limit := n.Method(slot).Actives
		switch {
		case limit <= 0 || n.State() == protocol.Down:
			continue
		case listed == maxHolders:
			more++
			continue
		case listed > 0:
			b.WriteString(", ")
		}
		listed++
		fmt.Fprintf(&b, "%s %d of %d", n.Address(), n.Status(slot).Active(), limit)
		if n.Ejected() {
			b.WriteString(" (ejected for its failures)")
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if others := c.methods.Waiting(slot) - 1; others > 0 {
		fmt.Fprintf(&b, "; others in line: %d", others)
	}
	return &protocol.Error{Code: protocol.ErrLimitExceeded, Retry: protocol.RetryNever, Detail: b.String(), Cause: cause}
}
