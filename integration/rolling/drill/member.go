//go:build unix

package drill

import (
	"context"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Member is one of the providers.
type Member struct {
	Name string // as its answers say
	Addr string // as registered
	// Stop ends it gracefully, Kill as a crash does; both return when it has ended.
	Stop, Kill func() error
	// Start starts it again on its port and returns when it has been exported.
	Start func(context.Context) error
	// Freeze makes it hang, connections and all, until Thaw.
	Freeze, Thaw func() error
}

// Java makes a member of a Java provider.
func Java(p *harness.Provider) Member {
	kill := func() error { return p.Kill() }     // the process that runs then
	addr := fmt.Sprintf("localhost.:%d", p.Port) // as it registers
	freeze, thaw := func() error { return p.Pause() }, func() error { return p.Resume() }
	return Member{Name: p.Name, Addr: addr, Stop: p.Stop, Kill: kill, Start: p.Start, Freeze: freeze, Thaw: thaw}
}

// InProcess makes a member of a dubbotest provider of the interop service, whose
// method hello it defines to take so long.
func InProcess(p *dubbotest.Provider, name string, each time.Duration) (Member, error) {
	p.SetDelay(func(*dubbotest.Call, time.Duration) time.Duration { return each })
	err := p.Handle("hello(java.lang.String)", func(who string) string { return "hello " + who + " from " + name })
	return Member{
		Name: name, Addr: p.Addr(),
		Stop:   func() error { p.Stop(context.Background()); return nil },
		Kill:   func() error { p.Kill(); return nil },
		Start:  func(context.Context) error { return p.Restart() },
		Freeze: func() error { p.Freeze(); return nil },
		Thaw:   func() error { p.Resume(); return nil },
	}, err
}
