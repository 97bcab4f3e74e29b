// Command customlb registers a load balancer of its own and selects it as any other:
// in the text of a reference, in a YAML file, or in code.
//
//	go run ./examples/customlb -form url
//	go run ./examples/customlb -form yaml
//	go run ./examples/customlb -form code
//
// It starts a registry and five providers in this process, of which one is slow, and
// prints where the calls for each video went: to one provider while that keeps up.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofer-rpc/gofer"
)

const service = "com.example.Transcoder"

func main() {
	form := flag.String("form", "url", "where loadbalance=custom stands: url, yaml or code")
	folder := flag.String("folder", "examples/customlb", "where application.yml is")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *form, *folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// connect is what an application would write: one option registers the load balancer,
// one parameter selects it.
func connect(form, folder, address string) (*gofer.Client, *gofer.Reference, error) {
	options := []gofer.Option{gofer.WithLoadBalance("custom", newNearest), gofer.WithRegistry(address)}
	switch form {
	case "yaml":
		cfg, err := gofer.Load(filepath.Join(folder, "application.yml"))
		if err != nil {
			return nil, nil, err
		}
		options = append(options, gofer.WithConfig(cfg))
	case "code":
		options = append(options, gofer.WithApplication("transcoder-web"),
			gofer.WithReference("transcoder", service+"?timeout=5000"), gofer.WithProperty("dubbo.consumer.loadbalance", "custom"))
	case "url":
		options = append(options, gofer.WithApplication("transcoder-web"),
			gofer.WithReference("transcoder", service+"?timeout=5000&loadbalance=custom"))
	default:
		return nil, nil, fmt.Errorf("unknown form %q: url, yaml or code", form)
	}
	client, err := gofer.New(options...)
	if err != nil {
		return nil, nil, err
	}
	reference, err := client.Reference("transcoder")
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return client, reference, nil
}

func run(ctx context.Context, w io.Writer, form, folder string) error {
	world, err := start()
	if err != nil {
		return err
	}
	defer world.stop()
	client, reference, err := connect(form, folder, world.url())
	if err != nil {
		return err
	}
	defer client.Close()
	seen, err := load(ctx, reference)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "loadbalance=custom from %s: calls by video and provider\n", form)
	for _, video := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(w, "  %-8s %s\n", video, counts(seen[video]))
	}
	return nil
}

// counts lists providers with their calls, those with the most first.
func counts(of map[string]int) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s: %d", name, of[name])
	}
	return strings.Join(names, ", ")
}

// load asks for every video by several callers, and returns which provider answered
// how often.
func load(ctx context.Context, reference *gofer.Reference) (map[string]map[string]int, error) {
	transcode, err := gofer.Method[string](reference, "transcode(java.lang.String)")
	if err != nil {
		return nil, err
	}
	const callers, rounds, videos = 4, 25, 8
	var (
		mu    sync.Mutex
		seen  = map[string]map[string]int{}
		first error
		wg    sync.WaitGroup
	)
	for caller := range callers {
		wg.Go(func() {
			for i := range rounds * videos {
				video := fmt.Sprintf("video-%d", (i+caller)%videos)
				provider, err := transcode.Call(ctx, video)
				mu.Lock()
				if err != nil {
					first = err
				} else if seen[video] == nil {
					seen[video] = map[string]int{}
				}
				if err == nil {
					seen[video][provider]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return seen, first
}
