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
	// Attachments of the answer, nil unless wanted. Since Dubbo 2.7 values may be
	// of any type. They are kept when a filter replaces the value (B104).
	Attachments map[string]any
}

// Reset forgets an earlier attempt's outcome.
func (r *Result) Reset() {
	r.Value, r.Null, r.Attachments = nil, false, nil
}
