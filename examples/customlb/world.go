package main

import (
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
)

// world is what this program calls: in real life a ZooKeeper ensemble and some Java
// processes.
type world struct {
	registry  *zktest.Server
	providers []*dubbotest.Provider
}

const (
	usual  = 2 * time.Millisecond
	factor = 10 // by which the last provider is slower
)

// start starts five providers, named A to E, of which E is slow.
func start() (*world, error) {
	registry, err := zktest.Start()
	if err != nil {
		return nil, err
	}
	w := &world{registry: registry}
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		if err := w.add(name); err != nil {
			w.stop()
			return nil, err
		}
	}
	return w, nil
}

func (w *world) add(name string) error {
	takes := usual
	if name == "E" {
		takes *= factor
	}
	p, err := dubbotest.New(service, dubbotest.WithRecords(0),
		dubbotest.WithDelay(func(*dubbotest.Call, time.Duration) time.Duration { return takes }))
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	w.providers = append(w.providers, p)
	if err = p.Handle("transcode(java.lang.String)", func(string) string { return name }); err == nil {
		err = p.Register(w.url())
	}
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	return nil
}

func (w *world) url() string { return "zookeeper://" + w.registry.Addr() + "?file-cache=false" }

func (w *world) stop() {
	for _, p := range w.providers {
		p.Close()
	}
	w.registry.Close()
}
