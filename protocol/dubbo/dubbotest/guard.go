package dubbotest

import (
	"errors"
	"fmt"
)

// guard calls what a test has written and survives what it does: a panic, or the end
// of its goroutine.
func guard(f func()) error {
	err := errors.New("the function did not return: runtime.Goexit, as t.FailNow calls it")
	done := make(chan struct{})
	go func() { // of its own, for the sake of Goexit
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
			}
		}()
		f()
		err = nil
	}()
	<-done
	return err
}
