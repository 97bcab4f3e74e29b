package dubbotest_test

import (
	"context"
	"fmt"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Outside of a test there is New, which returns an error where Start ends the test.
func Example() {
	p, err := dubbotest.New("com.example.OrderService?version=1.0.0")
	if err != nil {
		panic(err)
	}
	defer p.Close()
	_ = p.Handle("name(long)", func(id int64) (string, error) { return fmt.Sprint("order ", id), nil })
	_ = p.Answer("name", dubbotest.Handler(), dubbotest.Status(100, "thread pool is exhausted"))

	client, err := gofer.New(gofer.WithApplication("shop-web"))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()
	orders, err := client.Refer(ctx, p.URL("timeout=800"))
	if err != nil {
		panic(err)
	}
	for range 2 { // the second one is refused once, and tried again
		name, err := gofer.Call[string](ctx, orders, "name(long)", int64(7))
		fmt.Println(name, err)
	}
	fmt.Println(p.Counters().Calls, "calls; the last one:", p.LastCall().Signature)

	// Output:
	// order 7 <nil>
	// order 7 <nil>
	// 3 calls; the last one: name(long)
}
