package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestProgressIsOneLine(t *testing.T) {
	var screen bytes.Buffer
	p := newProgress(&screen)
	p.end()
	assert.Empty(t, screen.String())
	p.begun = p.begun.Add(-10 * time.Second)
	p.show(5, 15)
	assert.Equal(t, "\r5 of 15 runs, about 20s left", screen.String())
	p.show(6, 15)
	assert.Equal(t, "\r5 of 15 runs, about 20s left", screen.String(), "a few times a second")
	p.last = time.Time{}
	screen.Reset()
	p.show(15, 15)
	assert.Equal(t, "\r15 of 15 runs, about 0s left", screen.String())
	p.last = time.Time{}
	p.show(9, 9)
	screen.Reset()
	p.end()
	assert.Equal(t, "\r"+strings.Repeat(" ", len("9 of 9 runs, about 0s left"))+"\r", screen.String())
}
