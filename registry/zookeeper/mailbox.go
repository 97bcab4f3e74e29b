package zookeeper

import (
	"sync"

	"github.com/gofer-rpc/gofer/registry"
)

// mailbox hands snapshots to one listener, one at a time and never an older one
// after a newer one. It holds the newest that was not delivered yet. A goroutine
// exists only while there is something to deliver.
type mailbox struct {
	listener registry.Listener
	first    chan struct{} // closed once a snapshot was delivered
	gone     chan struct{} // closed when there will be no more

	mu     sync.Mutex
	next   *registry.Snapshot
	busy   bool
	any    bool
	closed bool
	idle   sync.Cond
}

func newMailbox(l registry.Listener) *mailbox {
	m := &mailbox{listener: l, first: make(chan struct{}), gone: make(chan struct{})}
	m.idle.L = &m.mu
	return m
}

// put does not wait.
func (m *mailbox) put(s *registry.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if m.next != nil && m.next.Held.Before(s.Held) { // the list before is that before both
		merged := *s
		merged.Held = m.next.Held
		s = &merged
	}
	m.next = s
	if !m.busy {
		m.busy = true
		go m.deliver()
	}
}

func (m *mailbox) deliver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.next != nil && !m.closed {
		s := *m.next
		m.next = nil
		m.mu.Unlock()
		m.listener.Notify(s)
		m.mu.Lock()
		if !m.any {
			m.any = true
			close(m.first)
		}
	}
	m.busy = false
	m.idle.Broadcast()
}

// close drops what is not delivered and waits for a delivery under way.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		close(m.gone)
	}
	m.next = nil
	for m.busy {
		m.idle.Wait()
	}
}
