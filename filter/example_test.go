package filter_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gofer-rpc/gofer/filter"
	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/url"
)

// A filter of one's own: it watches calls and attempts. A client takes it with
// gofer.WithFilter("watch", watch), a reference names it in reference.filter=watch.
func Example() {
	watch := func(filter.Config) (filter.Pair, error) {
		around := func(what string) filter.Filter {
			return func(next protocol.Invoker) protocol.Invoker {
				return protocol.InvokerFunc(func(ctx context.Context, inv *protocol.Invocation) (*protocol.Result, error) {
					res, err := next.Invoke(ctx, inv)
					fmt.Println(what, inv.Method.Name, "error:", err)
					return res, err
				})
			}
		}
		return filter.Pair{Call: around("call of"), Attempt: around("attempt of")}, nil
	}

	reference, _ := url.Parse("consumer://127.0.0.1/com.example.DemoService?reference.filter=watch,default")
	chain, err := filter.NewChain(filter.Config{Reference: reference}, map[string]filter.Factory{
		"watch": watch, "consumercontext": filter.ConsumerContext,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(chain.Names())

	// A client does this: attempt filters around each provider, call filters around
	// the cluster, which this example does without.
	var methods protocol.MethodTable
	node := protocol.NewNode("127.0.0.1:20880", reference, time.Time{}, &methods, &endpoint{}, chain.Attempt)
	inv := &protocol.Invocation{Method: &protocol.Method{Name: "find", Slot: methods.Slot("find")}, Start: time.Now()}
	inv.StartAttempt(node, inv.Start, inv.Start.Add(time.Second))
	_, _ = chain.Call(node).Invoke(context.Background(), inv)

	// Output:
	// [watch consumercontext activelimit]
	// attempt of find error: <nil>
	// call of find error: <nil>
}
