package protocol

import "strings"

// Result is the outcome of a call that succeeded. It lives in its [Invocation].
type Result struct {
	// Target is where the value goes: a non-nil pointer to the wanted Go type, set
	// by the front door before the call. Nil: the natural Go value goes to Value.
	Target any
	// Value is the natural Go value when Target is nil; else it is not used.
	Value any
	// Null is true when the provider answered null or void. Target is untouched then.
	Null bool
	// WantAttachments asks the wire to decode the attachments of the answer; they
	// stay unread otherwise, which is much cheaper.
	WantAttachments bool
	lent            bool   // to an observer, who wants them although the caller does not
	withheld        string // keys that are not the caller's
	// Attachments of the answer, nil unless wanted. Since Dubbo 2.7 values may be
	// of any type. They are kept when a filter replaces the value (B104).
	Attachments map[string]any
}

// Lend makes the wire decode the attachments of the answer for an observer, whether
// or not the caller wants them. key is what the observer has asked the provider for
// and the caller has not, who does not get to see it; "" for nothing.
// [Observer.Begun] calls it.
func (r *Result) Lend(key string) {
	r.lent = r.lent || !r.WantAttachments
	r.WantAttachments = true
	switch {
	case key == "", key == r.withheld:
	case r.withheld == "":
		r.withheld = key
	default: // of several observers
		r.withheld += keySeparator + key
	}
}

// keySeparator is in no key.
const keySeparator = "\x00"

// Return ends what [Result.Lend] began: the caller gets the attachments that are for
// him, none if he does not want any. The active limit filter calls it when all
// observers have been told how the attempt ended.
func (r *Result) Return() {
	if r.lent || r.withheld != "" {
		r.giveBack()
	}
}

func (r *Result) giveBack() {
	for key := range strings.SplitSeq(r.withheld, keySeparator) {
		delete(r.Attachments, key)
	}
	r.withheld = ""
	if r.lent {
		r.lent, r.WantAttachments, r.Attachments = false, false, nil
	}
}

// Reset forgets an earlier attempt's outcome.
func (r *Result) Reset() {
	r.Value, r.Null, r.Attachments = nil, false, nil
}
