package dubbotest

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// The methods that every service has.
const (
	invokeDescriptor = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
	echoMethod       = "$echo"
	echoDescriptor   = "Ljava/lang/Object;"
)

// bodyTexts is the number of strings before the arguments.
const bodyTexts = 5

// readHead reads the strings of a request that say what it is for. What it returns
// is never nil: on error it has what could be read.
func readHead(c *conn, h frame.Header, body []byte) (*Call, error) {
	call := &Call{
		Connection: c.number, ID: h.ID, OneWay: !h.TwoWay, Length: h.Length, Arrived: time.Now(),
		Flags: h.Append(nil)[2],
	}
	if h.Serialization != frame.Hessian2 {
		return call, fmt.Errorf("unsupported serialization type: %d", h.Serialization)
	}
	texts := []*string{&call.Dubbo, &call.Path, &call.Version, &call.Method, &call.Descriptor}
	targets := make([]any, bodyTexts)
	for i := range texts {
		targets[i] = texts[i]
	}
	_, err := hessian2.DecodeInto(body, targets...)
	call.Signature = call.Method
	return call, err
}

// readRest reads the arguments and attachments.
func (c *Call) readRest(profile Profile, body []byte) error {
	var err error
	if c.types, err = parameterTypes(c.Descriptor); err != nil {
		return err
	}
	c.Signature += "(" + strings.Join(c.types, ",") + ")"
	values, err := hessian2.DecodeValues(body)
	if err != nil {
		return err
	}
	if want := bodyTexts + len(c.types) + 1; len(values) != want {
		return fmt.Errorf("%d values in the body, not %d", len(values), want)
	}
	c.Arguments = values[bodyTexts : len(values)-1]
	switch a := values[len(values)-1].(type) {
	case nil:
		c.Attachments = map[string]any{}
	case map[string]any:
		c.Attachments = a
	default:
		return fmt.Errorf("the attachments are a %T", a)
	}
	async := c.Method == "$invokeAsync" && profile != Dubbo26
	if (c.Method == "$invoke" || async) && c.Descriptor == invokeDescriptor {
		c.generic = true
		return c.readGeneric()
	}
	return nil
}

// readGeneric finds the method that a $invoke means.
func (c *Call) readGeneric() error {
	name, ok := c.Arguments[0].(string)
	if !ok {
		return fmt.Errorf("the name of a generic call is a %T", c.Arguments[0])
	}
	c.Signature, c.types = name, nil
	switch types := c.Arguments[1].(type) {
	case nil:
		return nil
	case []string:
		c.types = append([]string{}, types...)
	case []any:
		c.types = []string{}
		for _, t := range types {
			s, ok := t.(string)
			if !ok {
				return fmt.Errorf("a type of a generic call is a %T", t)
			}
			c.types = append(c.types, s)
		}
	default:
		return fmt.Errorf("the types of a generic call are a %T", types)
	}
	c.Signature = name + "(" + strings.Join(c.types, ",") + ")"
	return nil
}

// addressed returns where the call goes: what the attachments say goes over the body.
func (c *Call) addressed() (path, version, group string) {
	path, version = c.Attachment("path"), c.Attachment("version")
	if path == "" {
		path = c.Path
	}
	if version == "" {
		version = c.Version
	}
	return path, version, c.Attachment("group")
}
