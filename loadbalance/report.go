package loadbalance

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofer-rpc/gofer/protocol"
)

const (
	reportKey     = "lb_adaptive"
	reportRequest = "mem,load" // what Dubbo asks for; a provider looks only whether it is asked
	mostReport    = 1e5        // percent; no machine is as busy as that
	longestReport = 256        // bytes
)

// parseReport returns the processor load in percent of an answer to [reportRequest],
// such as curTime:1700000000000,load:12.5; 0 for none, or one that says nothing. The
// provider's time is of no use: it is another clock (F6).
func parseReport(answer any) float64 {
	text, _ := answer.(string)
	if len(text) > longestReport {
		return 0
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, ":")
		if strings.TrimSpace(key) != "load" {
			continue
		}
		load, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err == nil && load > 0 && !math.IsInf(load, 0) {
			return min(load, mostReport)
		}
	}
	return 0
}

// Begun implements [protocol.Observer]: it asks the provider for a report, if nobody
// else does. Others may read it, too: a shadow of the same name.
func (s *adaptive) Begun(inv *protocol.Invocation, life *protocol.Life) {
	s.vitals(life).methods.at(inv.Method.Slot).begin(s.book.begun(inv))
	if inv.Attachment(reportKey) != "" {
		inv.Result.Lend("") // it is asked for, by the caller or a shadow
		return
	}
	inv.Attach(reportKey, reportRequest)
	inv.Result.Lend(reportKey)
}

// Ended implements [protocol.Observer]: it reads the report in the answer, and learns
// from the attempt.
func (s *adaptive) Ended(inv *protocol.Invocation, o protocol.Outcome) {
	now, slot := s.book.ended(inv, o), inv.Method.Slot
	v, tick := s.vitals(o.Life), s.ticks.at(now)
	if answer, told := inv.Result.Attachments[reportKey]; told {
		if percent := parseReport(answer); percent > 0 {
			v.tell(percent, now)
			s.reports.add(tick, int64(math.Ceil(percent*reportUnit)))
		}
	}

	p := v.methods.at(slot)
	p.end(now)
	u, timeout := s.usually(now, slot), timeoutAt(inv.Node, slot)
	if hasty(inv, o, inMs(u.tookMs)) {
		s.hurry.add(&p.haste, now, inMs(u.tookMs))
	}
	took, counts, early := price(inv, o, inMs(p.took(u, timeout)), inMs(u.tookMs))
	if !counts {
		return
	}
	if o.Verdict == protocol.Succeeded && o.Err == nil {
		s.usual.at(slot).add(tick, int64(took))
		u = s.usually(now, slot)
	}
	p.sample(u, millis(took), o.Verdict == protocol.Succeeded, early, timeout)
}
