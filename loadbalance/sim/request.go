package sim

import (
	"strconv"

	"github.com/gofer-rpc/gofer/protocol"
)

// request is one that is on its way. It is open until its consumer has an answer or
// has given up; its provider may have it longer. When both are done with it, it is
// used again.
type request struct {
	arrival
	id       int32
	turn     int32 // how often it was used
	server   int32
	life     int32 // of the server
	open     bool  // the consumer waits
	away     bool  // an event, a queue or a worker has it
	measured bool
	long     bool
	sole     bool  // see [Call]; in detail
	newer    int32 // see [open]
	older    int32
	place    int32   // among the works of its server
	until    int64   // when they are done
	pace     float64 // the CPU that they take until then, as a share of the time
	answer   answer
	report   report // of the provider, with the answer

	inv    protocol.Invocation // for strategies of this module
	begun  *protocol.Life
	status *protocol.Status
}

// report is what a Java provider of 3.2 and later attaches to an answer.
type report struct {
	at   int64   // ns
	load float64 // percent
}

// text is a report as it travels.
func (p report) text() string {
	load := strconv.FormatFloat(p.load, 'f', -1, 64)
	if p.load != 0 && p.load < 1e-3 { // as Java writes a small number
		load = strconv.FormatFloat(p.load, 'E', -1, 64)
	}
	return "curTime:" + strconv.FormatInt(clock(p.at).UnixMilli(), 10) + ",load:" + load
}

// answer is how a request ends.
type answer uint8

const (
	served  answer = iota
	failed         // the provider answers with an error
	refused        // the provider's thread pool is exhausted
	dead           // connection refused or lost
	late           // no answer within the deadline
	nowhere        // there was nobody to ask
)

// verdicts and errors are what this module's observers are told.
var verdicts = [...]protocol.Verdict{
	served: protocol.Succeeded, failed: protocol.Failed, refused: protocol.Failed, dead: protocol.Failed, late: protocol.TimedOut,
}

var answerErrors = [...]error{
	served:  nil,
	failed:  &protocol.Error{Code: protocol.ErrNetwork, Sent: true, Detail: "the provider fails"},
	refused: &protocol.Error{Code: protocol.ErrLimitExceeded, Sent: true, Retry: protocol.RetryAlways, Detail: "the provider's thread pool is exhausted"},
	dead:    &protocol.Error{Code: protocol.ErrNetwork, Detail: "connection refused or lost"},
	late:    &protocol.Error{Code: protocol.ErrTimeout, Sent: true, Detail: "no answer within the deadline"},
}

// requests are all that were ever under way at once, by id.
type requests struct {
	all  []*request
	free []int32
}

func (q *requests) take() *request {
	if n := len(q.free); n > 0 {
		r := q.all[q.free[n-1]]
		q.free = q.free[:n-1]
		return r
	}
	r := &request{id: int32(len(q.all))}
	q.all = append(q.all, r)
	return r
}

// release gives a request back once nobody has it.
func (q *requests) release(r *request) {
	if r.open || r.away {
		return
	}
	r.turn++
	q.free = append(q.free, r.id)
}
