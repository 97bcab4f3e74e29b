package protocol

import "fmt"

// SaturatedError is the cause of the refusal of a call whose method has all its
// "actives" in use at a provider, here at the consumer: nothing was sent. It tells
// such a refusal from errors of the same code that come from further away.
type SaturatedError struct {
	Node  *Node
	Slot  int
	Limit int
}

// Error names the provider and the limit.
func (e *SaturatedError) Error() string {
	return fmt.Sprintf("all %d calls that actives allows at %s are under way", e.Limit, e.Node.Address())
}
