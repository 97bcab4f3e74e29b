package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofer-rpc/gofer"
)

// Observation is what one step of the suite showed in one world.
type Observation struct {
	Row     string  // of the tables: a method of the service, a scenario of the registry
	Step    string  // what was done
	Outcome Outcome // what came of it
	Wrong   string  // how that differs from what the step expects; "" is right
}

// Outcome is what came of a step, fact by fact. Two worlds are alike when all facts
// of all steps are.
type Outcome map[string]string

// The facts.
const (
	Value       = "value"       // what the call returned
	Natural     = "natural"     // the same without a wanted type, with its Go types
	Code        = "code"        // of the error
	Sent        = "sent"        // whether the failed request had left
	Attempts    = "attempts"    // until it failed
	Class       = "class"       // of the exception
	Message     = "message"     // of the exception
	Fields      = "fields"      // of the exception
	Stack       = "stack"       // whether the exception came with its stack trace
	Cause       = "cause"       // of the exception: class, message and fields of all of them
	Text        = "text"        // of an error that is no exception
	Attachments = "attachments" // of the answer
)

// String lists the facts, sorted.
func (o Outcome) String() string {
	var b strings.Builder
	for _, fact := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(&b, "%s %s; ", fact, o[fact])
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// succeeded is the outcome of a call that returned.
func succeeded[T any](value T) Outcome { return Outcome{Value: render(value)} }

// failed is the outcome of a call that did not.
func failed(err error) Outcome {
	var e *gofer.Error
	if !errors.As(err, &e) {
		return Outcome{Text: normal(err.Error())}
	}
	o := Outcome{Code: e.Code.Error(), Sent: strconv.FormatBool(e.Sent), Attempts: strconv.Itoa(e.Attempts)}
	var remote *gofer.RemoteError
	if !errors.As(err, &remote) {
		o[Text] = normal(strings.TrimPrefix(e.Error(), "gofer: "))
		if e.Detail != "" {
			o[Text] = normal(e.Detail)
		}
		return o
	}
	o[Class], o[Message] = remote.Class, normal(remote.Message)
	o[Stack] = strconv.FormatBool(len(remote.Stack) > 0)
	if len(remote.Fields) > 0 {
		o[Fields] = render(remote.Fields)
	}
	var causes []string
	for c := remote.Cause; c != nil; c = c.Cause {
		causes = append(causes, fmt.Sprintf("%s: %s %s", c.Class, normal(c.Message), render(c.Fields)))
	}
	if causes != nil {
		o[Cause] = strings.Join(causes, " ← ")
	}
	return o
}
