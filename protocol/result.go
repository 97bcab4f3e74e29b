package protocol

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
	lent            bool // to an observer, who wants them although the caller does not
	// Attachments of the answer, nil unless wanted. Since Dubbo 2.7 values may be
	// of any type. They are kept when a filter replaces the value (B104).
	Attachments map[string]any
}

// Lend makes the wire decode the attachments of the answer for an observer, whether
// or not the caller wants them. [Observer.Begun] calls it.
func (r *Result) Lend() {
	r.lent = r.lent || !r.WantAttachments
	r.WantAttachments = true
}

// Return ends what [Result.Lend] began: a caller who does not want attachments gets
// none. [Observer.Ended] calls it when it has taken what it wants.
func (r *Result) Return() {
	if r.lent {
		r.lent, r.WantAttachments, r.Attachments = false, false, nil
	}
}

// Reset forgets an earlier attempt's outcome.
func (r *Result) Reset() {
	r.Value, r.Null, r.Attachments = nil, false, nil
}
