package registry

import (
	"fmt"
	"strings"
	"time"
)

// note says in words what is wrong with the source of a listing, "" for nothing.
func (p *published) note(s State, now time.Time) string {
	note := p.sourceNote(s, now)
	for _, text := range []string{p.doubtNote(), p.keptNote()} {
		if text != "" {
			note = join(text, note)
		}
	}
	return note
}

// doubtNote says that the registry lists fewer than there are here.
func (p *published) doubtNote() string {
	if p.doubt == nil || p.closed {
		return ""
	}
	return fmt.Sprintf("held: the registry lists %d of %d since %s, being checked", p.doubt.Listed, p.doubt.Known, clock(p.doubt.Since))
}

func (p *published) sourceNote(s State, now time.Time) string {
	switch {
	case p.closed:
		return "the reference is closed"
	case !p.listed:
		return join("no list has been read yet", s.trouble())
	case p.cached:
		return join("from cache file written "+age(now.Sub(p.read))+" ago", s.trouble())
	case p.Stale && p.read.IsZero():
		return join("stale", s.trouble())
	case p.Stale:
		return join("stale: read at "+clock(p.read), s.trouble())
	case !s.Connected:
		return s.trouble()
	}
	return ""
}

// trouble describes a connection that does not work, "" when nothing is known.
func (s State) trouble() string {
	var text string
	switch {
	case s.Connected:
	case !s.Since.IsZero():
		text = "registry not connected since " + clock(s.Since)
	case s.LastError != nil:
		text = "registry not connected"
	}
	if s.LastError != nil {
		text = strings.TrimPrefix(text+": "+brief(s.LastError.Error()), ": ")
	}
	return text
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

func clock(t time.Time) string { return t.Format(time.RFC3339) }

// age is a time span for people: one number, one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
