package hessian2

import "fmt"

// ArgumentError says which part of which argument of a call cannot be sent.
type ArgumentError struct {
	Index  int    // of the argument, from 0
	Path   string // within it, such as .Items[3].Price; "" for the argument itself
	Type   string // Go type of that part
	Reason string
}

// Error returns one line. It does not show the value, which may be a secret.
func (e *ArgumentError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("hessian2: argument %d (%s): %s", e.Index, e.Type, e.Reason)
	}
	return fmt.Sprintf("hessian2: argument %d: %s (%s): %s", e.Index, e.Path, e.Type, e.Reason)
}
