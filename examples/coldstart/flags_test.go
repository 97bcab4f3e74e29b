package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlags(t *testing.T) {
	cfg, err := parseFlags(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, config{seed: 1, runs: 3, after: 5 * time.Minute, html: "coldstart.html"}, cfg)
	cfg, err = parseFlags([]string{"-seed", "0", "-runs", "10", "-after", "90s", "-html", "/x/y.html"}, nil)
	require.NoError(t, err)
	assert.Equal(t, config{runs: 10, after: 90 * time.Second, html: "/x/y.html"}, cfg)
	assert.Equal(t, []time.Duration{time.Second, 10 * time.Second, time.Minute}, cfg.spans())
	assert.Equal(t, time.Minute, cfg.spans()[cfg.main()])
	cfg.after = 10 * time.Second
	assert.Equal(t, 10*time.Second, cfg.spans()[cfg.main()])
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-seed -1":                   `invalid value "-1" for flag -seed: write a whole number`,
		"-seed 18446744073709551615": `flag -seed: write a whole number`,
		"-runs 0":                    `"0" for flag -runs: write a whole number from 1 to 10`,
		"-runs 11":                   `"11" for flag -runs: write a whole number from 1 to 10`,
		"-runs x":                    `"x" for flag -runs: write a whole number from 1 to 10`,
		"-after 5":                   `"5" for flag -after: write a time from 10s to 10m`,
		"-after 9s":                  `"9s" for flag -after: write a time from 10s to 10m`,
		"-after 11m":                 `"11m" for flag -after: write a time from 10s to 10m`,
		"-after 10.5s":               `"10.5s" for flag -after: write a time from 10s to 10m in whole seconds`,
		"-html -":                    `"-" for flag -html: the page cannot go to standard output, where the report goes; name a file`,
		"-fast":                      `-fast (-help lists the flags)`,
		"now":                        `"now" belongs to no flag`,
	} {
		t.Run(args, func(t *testing.T) {
			var out, errs bytes.Buffer
			assert.Equal(t, 2, run(t.Context(), strings.Fields(args), &out, &errs))
			assert.Contains(t, errs.String(), want)
			assert.Equal(t, 1, strings.Count(errs.String(), "\n"), "one line")
			assert.Empty(t, out.String())
		})
	}
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-help"}, &out, &errs))
	for _, name := range []string{"-seed", "-runs", "-after", "-html"} {
		assert.Equal(t, 1, strings.Count(out.String(), "\n  "+name+" "), "asked for, so no error")
	}
	assert.Contains(t, out.String(), `(default "coldstart.html")`)
	assert.Empty(t, errs.String())
	_, err := parseFlags([]string{"-h"}, &errs)
	assert.ErrorIs(t, err, flag.ErrHelp)
}
