package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol"
)

// maxWatched is how many connections on their way a call waits for. The others of a
// longer list, and changes of the list, it notices at its next look, recheck later.
const maxWatched = 16

// found is what a call has found when nobody can be called.
type found struct {
	list *protocol.Listing
	left *protocol.Candidates
	rule string
}

// connecting waits until something changes about the providers whose first
// connection, or the first one after a loss, is on its way. A call that finds
// nobody else has the time: its timeout is there to be used. Nil means to look
// again; who is known to be down is not waited for.
func (c *Invoker) connecting(ctx context.Context, inv *protocol.Invocation, s *selection, f found) error {
	patience := c.patience(f.list, inv)
	wake := make(chan struct{}, 1)
	watched := watch(f.left.Nodes(), wake)
	defer func() {
		for _, w := range watched {
			w.Unwatch(wake)
		}
	}()
	if anyUp(f.left.Nodes()) { // in between
		return nil
	}
	if len(watched) == 0 {
		return c.noProvider(f.list, f.left, f.rule)
	}
	if end := s.begun.Add(patience); time.Now().Before(end) {
		timer := time.NewTimer(min(time.Until(end), recheck))
		defer timer.Stop()
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			return c.ended(ctx)
		}
	}
	return c.unconnected(time.Since(s.begun), ctx.Err(), f)
}

// watch has wake signalled by providers that are connecting.
func watch(nodes []*protocol.Node, wake chan<- struct{}) (watched []protocol.Connecting) {
	for _, n := range nodes {
		if w, ok := n.Endpoint().(protocol.Connecting); ok && len(watched) < maxWatched && w.Watch(wake) {
			watched = append(watched, w)
		}
	}
	return watched
}

func anyUp(nodes []*protocol.Node) bool {
	for _, n := range nodes {
		if n.State() != protocol.Down {
			return true
		}
	}
	return false
}

// unconnected is the error of a call that waited for a connection in vain.
func (c *Invoker) unconnected(waited time.Duration, ended error, f found) error {
	none := explain(c.reference.ServiceKey(), f.list, f.left, f.rule)
	none.Remedy = fmt.Sprintf("the call has waited %v, all its time, for a connection that is being made: allow it more, or do not call before Refer with check=true has returned; if it happens again and again, look at what delays connections",
		waited.Round(time.Millisecond))
	e := &protocol.Error{Code: protocol.ErrNoProvider, Retry: protocol.RetryNever, Cause: none}
	if ended != nil {
		e.Cause = errors.Join(none, ended)
		e.Detail = none.Error()
	}
	return e
}
