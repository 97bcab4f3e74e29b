//go:build unix

// Command demo runs the main job for real: it starts a ZooKeeper and a Java
// provider of every supported Dubbo version, and calls them from Go through the
// whole stack.
//
//	go run ./integration/demo
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/integration/harness"
	"github.com/gofer-rpc/gofer/integration/interop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	fmt.Println("starting ZooKeeper and a Java provider of every Dubbo version …")
	env, err := harness.Start(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(env.Dir)
	defer env.Close()

	if err := gofer.Register(interop.Types()...); err != nil {
		return err
	}
	address := "zookeeper://" + env.ZooKeeper.Addr()
	client, err := gofer.New(gofer.WithApplication("demo"), gofer.WithRegistry(address))
	if err != nil {
		return err
	}
	defer client.Close()
	fmt.Printf("\nregistry %s\n", address)

	for _, version := range env.Versions() {
		if err := tour(ctx, client, version, env.Shared(version).Reference("timeout=5000")); err != nil {
			return err
		}
	}
	for _, strategy := range []string{"random", "roundrobin", "leastactive"} {
		if err := balance(ctx, client, strategy); err != nil {
			return err
		}
	}
	return nil
}

// tour makes one call of each kind at one version's provider.
func tour(ctx context.Context, client *gofer.Client, version, reference string) error {
	fmt.Printf("\nDubbo %s\n", version)
	service, err := client.Refer(ctx, reference)
	if err != nil {
		return err
	}
	hello, err := gofer.Call[string](ctx, service, "hello(java.lang.String)", "Ada")
	if err != nil {
		return err
	}
	fmt.Printf("  hello(\"Ada\")        %s\n", hello)

	find, err := gofer.Method[*interop.Order](service, "findOrder(long)")
	if err != nil {
		return err
	}
	order, err := find.Call(ctx, int64(42))
	if err != nil {
		return err
	}
	fmt.Printf("  findOrder(42)       %q for %s, %s, total %s, %d items\n", order.Title, order.Customer.Name, order.Color, order.Total, len(order.Items))

	_, err = find.Call(ctx, int64(-1))
	var remote *gofer.RemoteError
	if !errors.As(err, &remote) {
		return fmt.Errorf("findOrder(-1): want the Java exception, got %w", err)
	}
	fmt.Printf("  findOrder(-1)       %s: %s, code %v, caused by %s\n", remote.Class, remote.Message, remote.Fields["code"], remote.Cause)

	any, err := service.Generic(ctx, "overload(java.lang.String,int)", "x", int32(1))
	if err != nil {
		return err
	}
	fmt.Printf("  generic             %v\n", any)

	_, err = gofer.Call[int64](gofer.WithTimeout(ctx, 100*time.Millisecond), service, "slow(long)", int64(2000))
	fmt.Printf("  slow(2000)          %v\n", err)
	return nil
}

// balance calls all providers through one reference (any group) and shows who got what.
func balance(ctx context.Context, client *gofer.Client, strategy string) error {
	service, err := client.Refer(ctx, harness.Interface+"?group=*&version=1.0.0&timeout=5000&loadbalance="+strategy)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	shares := map[string]int{}
	var wg sync.WaitGroup
	began := time.Now()
	const callers, each = 10, 200
	for range callers {
		wg.Go(func() {
			for range each {
				s, err := gofer.Call[string](ctx, service, "hello(java.lang.String)", "Ada")
				_, name, _ := strings.Cut(s, " from ")
				if err != nil {
					name = err.Error()
				}
				mu.Lock()
				shares[name]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	fmt.Printf("\n%-12s %d calls by %d callers in %v:\n", strategy, callers*each, callers, time.Since(began).Round(time.Millisecond))
	names := make([]string, 0, len(shares))
	for name := range shares {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("  %-20s %5d\n", name, shares[name])
	}
	return nil
}
