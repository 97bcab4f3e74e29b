// Command config configures a client in three ways, with the same result, and
// prints every effective value with its origin. It needs no server: the references
// have check=false.
//
//	go run ./examples/config -form yaml
//	go run ./examples/config -form properties
//	go run ./examples/config -form code
//	DUBBO_REFERENCES_ORDERS_TIMEOUT=500 go run ./examples/config
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/gofer-rpc/gofer"
)

func main() {
	form := flag.String("form", "yaml", "where the configuration comes from: yaml, properties or code")
	folder := flag.String("folder", "examples/config", "where the files are")
	defaults := flag.Bool("defaults", false, "print defaults, too")
	flag.Parse()
	if err := run(os.Stdout, *form, *folder, *defaults); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer, form, folder string, defaults bool) error {
	client, err := newClient(form, folder)
	if err != nil {
		return err
	}
	defer client.Close()

	cfg := client.Config()
	for _, doubt := range cfg.Warnings() {
		fmt.Fprintln(w, "warning:", doubt)
	}
	fmt.Fprintln(w, "client")
	print(w, cfg.Settings(), defaults)
	for _, id := range cfg.References() {
		reference, err := client.Reference(id)
		if err != nil {
			return err
		}
		defer reference.Close()
		settings, err := cfg.Explain(id)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s: %s\n", id, reference.URL().ServiceKey())
		print(w, settings, defaults)
	}
	return nil
}

// newClient is what an application would write, in one of the three ways.
func newClient(form, folder string) (*gofer.Client, error) {
	if form == "code" {
		return gofer.New(
			gofer.WithApplication("shop-web"),
			gofer.WithRegistry("zookeeper://127.0.0.1:2181?session=20s"),
			gofer.WithProperty("dubbo.consumer.check", "false"),
			gofer.WithProperty("dubbo.consumer.timeout", "3s"),
			gofer.WithReference("orders", "com.example.OrderService?version=1.0.0&loadbalance=leastactive&actives=10&timeout=800&find.timeout=300&find.retries=0"),
			gofer.WithReference("users", "com.example.UserService?group=members&warmup=60000"),
		)
	}
	file, ok := map[string]string{"yaml": "application.yml", "properties": "dubbo.properties"}[form]
	if !ok {
		return nil, fmt.Errorf("unknown form %q: yaml, properties or code", form)
	}
	cfg, err := gofer.Load(filepath.Join(folder, file))
	if err != nil {
		return nil, err
	}
	return gofer.New(gofer.WithConfig(cfg))
}

// print shows settings as a table.
func print(w io.Writer, settings []gofer.Setting, defaults bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	hidden := 0
	for _, s := range settings {
		if s.Origin.Source == gofer.SourceDefault && !defaults {
			hidden++
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s", s.Key, s.Value, s.Origin)
		for _, o := range s.Overridden {
			fmt.Fprintf(t, "\tnot %s (%s)", o.Value, o.Origin)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if hidden > 0 {
		fmt.Fprintf(w, "  and %d defaults: -defaults shows them\n", hidden)
	}
}
