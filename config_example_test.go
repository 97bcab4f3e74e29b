package gofer_test

import (
	"fmt"
	"log"

	"github.com/gofer-rpc/gofer"
)

func ExampleLoad() {
	cfg, err := gofer.Load("examples/config/application.yml")
	if err != nil {
		log.Fatal(err) // everything that is wrong, with its places
	}
	client, err := gofer.New(gofer.WithConfig(cfg))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	orders, err := client.Reference("orders")
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Close()

	timeout, _ := client.Config().Lookup("orders", "find.timeout")
	retries, _ := client.Config().Lookup("orders", "list.retries")
	fmt.Println(timeout)
	fmt.Println(retries)
	// Output:
	// find.timeout=300 (examples/config/application.yml:19)
	// retries=2 (default)
}
