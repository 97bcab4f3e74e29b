package cluster

import (
	"fmt"
	"strings"
	"time"
)

// String returns the call in a line, and below it its attempts.
func (t Trace) String() string {
	var b strings.Builder
	outcome := "succeeded"
	if t.Error != "" {
		outcome = "failed"
	}
	fmt.Fprintf(&b, "%s.%s at %s: %s after %s in %s", t.Service, t.Method, t.Start.Format("15:04:05.000"), outcome,
		brisk(t.Elapsed), count(len(t.Attempts), "attempt"))
	if t.Error != "" {
		b.WriteString(": " + t.Error)
	}
	for _, a := range t.Attempts {
		b.WriteString("\n" + a.String())
	}
	return b.String()
}

// String returns how the attempt ended in a line, and below it how it was decided.
func (a TracedAttempt) String() string {
	var b strings.Builder
	b.WriteString("attempt")
	if a.Attempt > 0 {
		fmt.Fprintf(&b, " %d", a.Attempt)
	}
	if a.Provider != "" {
		b.WriteString(" at " + a.Provider)
	}
	fmt.Fprintf(&b, ": %s after %s", a.Outcome, brisk(a.Elapsed))
	switch {
	case a.Provider == "":
		b.WriteString(", no provider was found")
	case a.Waited > 0:
		fmt.Fprintf(&b, ", of which it waited for a provider %s", brisk(a.Waited))
	}
	if a.Error != "" {
		b.WriteString(": " + a.Error)
	}
	if x := a.Explanation.String(); x != "" {
		b.WriteString("\n" + x)
	}
	return b.String()
}

// brisk is a time as short as a log needs it.
func brisk(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
