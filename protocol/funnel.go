package protocol

import (
	"fmt"
	"strings"
)

// Stage is a step on the way from the registry to a usable provider.
type Stage string

// The stages, in order.
const (
	StageRegistered Stage = "registered" // known to the registry
	StageEnabled    Stage = "enabled"    // matching the reference and not disabled
	StageRouted     Stage = "routed"     // left by the routers
	StageAvailable  Stage = "available"  // connected
)

// Funnel counts the providers of a reference after each stage.
type Funnel struct {
	Source     string // registry address or "direct", without secrets
	Path       string // where the list was read, "" when it does not apply
	Registered int
	Enabled    int
	Routed     int
	Available  int
	// Ejected is how many of the available ones are out of the choice because they
	// keep failing. A call that finds nobody else ignores that.
	Ejected int
	// Kept is how many providers are not registered any more, but kept while they are
	// connected (parameter enable-empty-protection). They count as enabled.
	Kept    int
	Rule    string    // the rule that emptied the list, if one did
	Refused []Refusal // why registered providers are not enabled, bounded
	Note    string    // state of the source: stale, never read, access denied …
}

// Refusal says why providers of the list are not used.
type Refusal struct {
	Provider string // a few addresses and how many more, or the start of a name that cannot be parsed
	Reason   string
	Count    int // providers refused for this reason
}

// Emptied returns the first stage after which nothing was left, "" when some
// provider is available.
func (f Funnel) Emptied() Stage {
	switch {
	case f.Registered+f.Kept == 0:
		return StageRegistered
	case f.Enabled == 0:
		return StageEnabled
	case f.Routed == 0:
		return StageRouted
	case f.Available == 0:
		return StageAvailable
	}
	return ""
}

// String returns "registered 3 → enabled 3 → routed 0 → available 0 (emptied at …)".
func (f Funnel) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "registered %d", f.Registered)
	if f.Kept > 0 {
		fmt.Fprintf(&b, " and %d kept", f.Kept)
	}
	fmt.Fprintf(&b, " → enabled %d → routed %d → available %d", f.Enabled, f.Routed, f.Available)
	if f.Ejected > 0 {
		fmt.Fprintf(&b, " (%d of them ejected for their failures)", f.Ejected)
	}
	if s := f.Emptied(); s != "" {
		fmt.Fprintf(&b, "; emptied at stage %q", s)
	}
	if f.Source != "" {
		fmt.Fprintf(&b, "; from %s", f.Source)
		if f.Path != "" {
			fmt.Fprintf(&b, " %s", f.Path)
		}
	}
	if f.Note != "" {
		fmt.Fprintf(&b, "; %s", f.Note)
	}
	if f.Rule != "" {
		fmt.Fprintf(&b, "; rule %s", f.Rule)
	}
	for i, r := range f.Refused {
		if i == 0 {
			b.WriteString("; refused: ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", r.Provider, r.Reason)
	}
	return b.String()
}

// NoProviderError is the cause of an error with code [ErrNoProvider].
type NoProviderError struct {
	Service string // service key
	Funnel  Funnel
	Remedy  string // what to do, for the stage that emptied the list
}

// Error returns the funnel and the remedy.
func (e *NoProviderError) Error() string {
	s := fmt.Sprintf("no provider of %s: %s", e.Service, e.Funnel)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Listing is what a directory offers at one moment: an immutable snapshot.
type Listing struct {
	Stale bool // the registry is away: the last list known

	Candidates *Candidates // enabled nodes; never nil
	Funnel     Funnel      // Routed and Available are filled by who knows them
}
