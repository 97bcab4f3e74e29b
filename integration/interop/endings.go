package interop

import (
	"context"
	"fmt"
	"time"

	big "github.com/dubbogo/gost/math/big"

	"github.com/gofer-rpc/gofer/protocol"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

func findOrder(id int64) (*Order, error) {
	if id <= 0 {
		return nil, &protocol.RemoteError{
			Class: "org.gofer.interop.OrderException", Message: fmt.Sprintf("no order %d", id),
			Fields: map[string]any{"code": int32(404), "orderId": id, "reasons": []any{"unknown", "never was"}},
			Stack:  stack("findOrder"),
			Cause:  thrown("java.lang.IllegalArgumentException", fmt.Sprintf("id %d", id)),
		}
	}
	total, err := big.NewDecFromString("12.50")
	if err != nil {
		return nil, err
	}
	green := Green
	return &Order{
		Document: Document{ID: id, Title: fmt.Sprintf("order %d", id), CreatedAt: time.UnixMilli(1_700_000_000_000)},
		Customer: &Customer{Name: "Ada", Address: &Address{Street: "Main Street 1", City: "Springfield", Zip: 12345}, Emails: []string{"ada@example.com"}},
		Items:    []*Item{NewItem(1), NewItem(2)}, Color: &green, Total: total,
	}, nil
}

// stack is a stack trace as Java's begins.
func stack(method string) []string {
	return []string{"org.gofer.provider.Interop." + method + "(Interop.java:1)"}
}

// raise throws what no signature names.
func (s *service) raise(kind string) (any, error) {
	message := "raised " + kind
	classes := map[string]string{
		"state": "java.lang.IllegalStateException", "argument": "java.lang.IllegalArgumentException",
		"arithmetic": "java.lang.ArithmeticException", "null": "java.lang.NullPointerException",
		"unsupported": "java.lang.UnsupportedOperationException", "overflow": "java.lang.StackOverflowError",
		"error": "java.lang.Error", "caused": "java.lang.IllegalStateException", "unlisted": "org.gofer.interop.UnlistedException",
		"foreign": "java.lang.RuntimeException",
	}
	class, ok := classes[kind]
	if !ok {
		return kind, nil
	}
	e := &protocol.RemoteError{Class: class, Message: message, Stack: stack("raise")}
	switch kind {
	case "caused":
		e.Cause = thrown("java.io.IOException", "disk")
	case "unlisted":
		e.Fields = map[string]any{"code": int32(7)}
		if s.profile == dubbotest.Dubbo33 {
			return unsent("null, exception="+e.Error(), notAllowed(class)), nil
		}
	case "foreign": // a class that no consumer has: wrapped, printed
		e.Message = "io.netty.handler.codec.DecoderException: " + message + "\n\tat " + stack("raise")[0] + "\n"
	}
	return nil, e
}

// notAllowed is why Dubbo 3.3 does not send a class.
func notAllowed(class string) string {
	return "java.io.IOException: org.apache.dubbo.common.serialize.SerializationException: java.lang.IllegalArgumentException: " +
		"[Serialization Security] Serialized class " + class + " is not in allow list. " +
		"Current mode is `STRICT`, will disallow to deserialize it by default. " +
		"Please add it into security/serialize.allowlist or follow FAQ to configure it."
}

// optional has a result that no provider can send.
func (s *service) optional(*string) dubbotest.Answer {
	return s.unsendable("Optional[x]", "java.util.Optional")
}

// future completes late. Dubbo 2.6 knows no asynchronous methods and would send the
// future.
func (s *service) future(ctx context.Context, value *string, delayMillis int64) (any, error) {
	if s.profile == dubbotest.Dubbo26 {
		return s.unsendable("java.util.concurrent.CompletableFuture@1b2c3d[Not completed]", "java.util.concurrent.CompletableFuture"), nil
	}
	if _, err := slow(ctx, delayMillis); err != nil {
		return nil, err
	}
	return value, nil
}

func (s *service) failedFuture(message string) (any, error) {
	if s.profile == dubbotest.Dubbo26 {
		return s.future(context.Background(), nil, 0)
	}
	return nil, thrown("java.lang.IllegalStateException", message)
}

// unsendable is the answer of a provider that cannot send what a method returned.
func (s *service) unsendable(value, class string) dubbotest.Answer {
	cause := "java.io.IOException: org.apache.dubbo.common.serialize.SerializationException: java.lang.IllegalArgumentException: " +
		"[Serialization Security] Serialized class " + class + " has not implement Serializable interface. " +
		"Current mode is strict check, will disallow to deserialize it by default. "
	if s.profile == dubbotest.Dubbo26 || s.profile == dubbotest.Dubbo27 {
		cause = "java.lang.IllegalStateException: Serialized class " + class + " must implement java.io.Serializable"
	}
	return unsent(value+", exception=null", cause)
}

// unsent is the answer of status 50: the result as Java prints it, and why it was not
// sent.
func unsent(result, cause string) dubbotest.Answer {
	return dubbotest.Status(50, fmt.Sprintf(
		"Failed to send response: Response [id=1, version=2.0.2, status=20, event=false, error=null, result=AppResponse [value=%s]], cause: %s\n%s\n\tat %s",
		result, cause, cause, stack("send")[0]))
}
