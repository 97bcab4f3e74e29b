package url

// Problem is one bad parameter.
type Problem struct {
	Key, Value, Reason string
	Fallback           string // the value used instead
	URL                string // redacted
}

// Validate lists the bad parameters of a URL.
func Validate(u URL) []Problem { return nil }
