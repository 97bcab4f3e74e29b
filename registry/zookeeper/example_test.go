package zookeeper_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/registry"
	"github.com/gofer-rpc/gofer/registry/zookeeper"
	"github.com/gofer-rpc/gofer/registry/zookeeper/zktest"
	"github.com/gofer-rpc/gofer/url"
)

func Example() {
	server, err := zktest.Start()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	provider := url.New("dubbo", "10.0.0.7", 20880, "com.example.OrderService", nil)
	if err := server.Create("/dubbo/com.example.OrderService/providers/"+provider.Encode(), ""); err != nil {
		panic(err)
	}

	address, _ := url.Parse("zookeeper://" + server.Addr())
	r, err := zookeeper.New(address)
	if err != nil {
		panic(err)
	}
	defer func() { _ = r.Close() }()
	reference, _ := url.Parse("consumer://10.0.0.9/com.example.OrderService")
	sub, err := r.Subscribe(reference, registry.ListenerFunc(func(s registry.Snapshot) {
		for _, e := range s.Providers {
			fmt.Println(e.URL)
		}
	}))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := sub.Ready(ctx); err != nil {
		panic(err)
	}
	// Output: dubbo://10.0.0.7:20880/com.example.OrderService
}
