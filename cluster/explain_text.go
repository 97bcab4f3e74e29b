package cluster

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// maxRows is how many candidates the text of an explanation has at most.
const maxRows = 50

// String returns the explanation as lines and a table; "" where there is none, as beside
// an error.
func (x Explanation) String() string {
	if x.Service == "" {
		return x.Decision
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s", x.Service, x.Method)
	if x.Attempt > 1 {
		fmt.Fprintf(&b, ", attempt %d", x.Attempt)
	}
	fmt.Fprintf(&b, ": %s (%s)", x.LoadBalance, x.Origin)
	if x.Rule != "" {
		fmt.Fprintf(&b, ", %s", x.Rule)
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", x.Decision, x.Funnel)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(x.Candidates) > 0 {
		fmt.Fprintln(w, "\tprovider\tstate\tweight\tactive\tlatency\tfailed\tscore\tchance\twhy")
	}
	for i := range x.Candidates {
		if i == maxRows && len(x.Candidates) > maxRows+1 {
			fmt.Fprintf(w, "\tand %d more\n", len(x.Candidates)-maxRows)
			break
		}
		fmt.Fprintln(w, x.Candidates[i].row(x.Explained))
	}
	_ = w.Flush() // to memory
	return strings.TrimRight(b.String(), "\n")
}

// count is a number with its noun.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (c *Candidate) row(explained bool) string {
	mark := ""
	if c.Chosen {
		mark = "→"
	}
	chance := "?"
	if explained {
		chance = fmt.Sprintf("%.1f %%", 100*c.Chance)
	}
	score := "-"
	if c.Scored {
		score = fmt.Sprintf("%.4g", c.Score)
	}
	state := c.State
	if c.Ejected {
		state += ", ejected"
	}
	return strings.Join([]string{mark, c.Address, state, c.weight(explained), c.active(), c.latency(),
		fmt.Sprintf("%d of %d", c.Failed, c.Total), score, chance, c.Reason}, "\t")
}

func (c *Candidate) weight(explained bool) string {
	text := fmt.Sprint(c.Weight)
	if c.Warming {
		text += fmt.Sprintf(" of %d, up %v", c.FullWeight, c.Uptime.Round(time.Second))
	}
	if explained && !c.WeightUsed {
		text += ", not used"
	}
	return text
}

func (c *Candidate) active() string {
	if c.Actives > 0 {
		return fmt.Sprintf("%d of %d", c.Active, c.Actives)
	}
	return fmt.Sprint(c.Active)
}

func (c *Candidate) latency() string {
	switch {
	case c.Latency == 0:
		return "-"
	case c.LatencyMeasured:
		return c.Latency.Round(10*time.Microsecond).String() + " mean"
	}
	return c.Latency.Round(10 * time.Microsecond).String()
}
