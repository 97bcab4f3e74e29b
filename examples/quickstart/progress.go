package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// progress tells on one line what is going on: rewritten in place on a terminal, else
// a new one for each step.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	whole    time.Duration // expected
}

func newProgress(out io.Writer, whole time.Duration) *progress {
	p := &progress{out: out, began: time.Now(), whole: whole}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// say shows a text.
func (p *progress) say(text string) {
	text = fmt.Sprintf("[%4.1f of about %.0f s] %s", time.Since(p.began).Seconds(), p.whole.Seconds(), text)
	if p.terminal {
		fmt.Fprintf(p.out, "\r%.79s\x1b[K", text)
	} else {
		fmt.Fprintln(p.out, text)
	}
}

// during waits and shows meanwhile what is measured, unless ctx ends before.
func (p *progress) during(ctx context.Context, d time.Duration, text string, m *meter) error {
	if !p.terminal {
		p.say(text)
		return pause(ctx, d)
	}
	for end := time.Now().Add(d); ; {
		p.say(fmt.Sprintf("%s, %d calls", text, len(m.taken())))
		left := time.Until(end)
		if left <= 0 {
			return ctx.Err()
		}
		if err := pause(ctx, min(left, 200*time.Millisecond)); err != nil {
			return err
		}
	}
}

// Write puts a line of the client's log in the place of the progress line.
func (p *progress) Write(line []byte) (int, error) {
	p.clear()
	return p.out.Write(line)
}

// clear makes room for something else.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
