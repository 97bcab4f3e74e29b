package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress shows how far the runs are on one line of a terminal, a few times a second.
type progress struct {
	w     io.Writer
	begun time.Time

	mu    sync.Mutex
	last  time.Time
	width int // of what stands there
}

func newProgress(w io.Writer) *progress { return &progress{w: w, begun: time.Now()} }

// terminal tells whether somebody may be watching.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show is called from several goroutines, in any order.
func (p *progress) show(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.last) < time.Second/4 {
		return
	}
	p.last = now
	left := time.Duration(float64(now.Sub(p.begun)) / float64(done) * float64(all-done))
	p.put(fmt.Sprintf("%d of %d runs, about %v left", done, all, left.Round(time.Second)))
}

// end clears the line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		p.put("")
		fmt.Fprint(p.w, "\r")
	}
}

// put writes over what stands there.
func (p *progress) put(text string) {
	fmt.Fprint(p.w, "\r", text, strings.Repeat(" ", max(0, p.width-len(text))))
	p.width = len(text)
}
