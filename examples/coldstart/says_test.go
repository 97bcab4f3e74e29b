package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the claims are checked with: the figures, and whether a text says them.

// at returns what a strategy made of a cause by its number.
func (r *results) at(cause int, strategy string) window {
	for _, o := range r.of(cause) {
		if o.strategy.key == strategy {
			return o.windows[r.main()]
		}
	}
	return window{share: math.NaN()}
}

// losers are the parts of the calls that fail, by label.
func (r *results) losers(cause int) map[string]float64 {
	all := map[string]float64{}
	for _, o := range r.of(cause) {
		if w := o.windows[r.main()]; w.failed > 0 {
			all[o.strategy.label] = float64(w.failed) / float64(w.calls)
		}
	}
	return all
}

// alone are the shares that the mechanism gives by itself, by cluster.
func (r *results) alone(window int) (shares []float64) {
	for _, o := range r.clusters {
		shares = append(shares, o.windows[window].share)
	}
	return shares
}

// ratios are those of the p99 with a strategy to that with Java's leastactive, by cause.
func (r *results) ratios(strategy string) (all []float64) {
	for i := range r.causes {
		all = append(all, float64(r.at(i, strategy).p99)/float64(r.at(i, "java").p99))
	}
	return all
}

// saysBeside checks how the p99 with a strategy compares to that with Java's leastactive.
func saysBeside(r *results, text, strategy string) bool {
	ratios := r.ratios(strategy)
	most := slices.Max(ratios)
	switch text {
	case "nowhere higher than with Java's leastactive":
		return most <= 1
	case "nowhere more than 5 % higher than with Java's leastactive":
		return most > 1 && most <= 1.05
	}
	m := regexp.MustCompile(`^([\d.]+) times that with Java's leastactive in cluster (\d), which is the most: (\d+ ms) against (\d+ ms)$`).FindStringSubmatch(text)
	if m == nil || most <= 1.05 {
		return false
	}
	n, _ := strconv.Atoi(m[2])
	return n >= 1 && n <= len(ratios) && ratios[n-1] == most && saysNumber(m[1], most, 0.051) &&
		saysMS(m[3], r.at(n-1, strategy).p99) && saysMS(m[4], r.at(n-1, "java").p99)
}

// lowest is the strategy with the lowest p99 of a cause in the table, but for leastload.
func (r *results) lowest(cause int) (least time.Duration, who []string) {
	for _, o := range r.of(cause) {
		p99 := o.windows[r.main()].p99.Round(time.Millisecond)
		switch {
		case o.strategy.key == "leastload":
		case who == nil || p99 < least:
			least, who = p99, []string{o.strategy.label}
		case p99 == least:
			who = append(who, o.strategy.label)
		}
	}
	return least, who
}

// behind are the causes in whose table leastload has not the lowest p99, by number,
// and the one where another has it by the most.
func (r *results) behind() (where []string, worst int) {
	most := 1.0
	for i := range r.causes {
		least, _ := r.lowest(i)
		own := r.at(i, "leastload").p99.Round(time.Millisecond)
		if ratio := float64(own) / float64(least); ratio > 1 {
			where = append(where, fmt.Sprint(i+1))
			if ratio > most {
				most, worst = ratio, i
			}
		}
	}
	return where, worst
}

func below(shares []float64) (n int) {
	for _, s := range shares {
		if s < 1.0/3 {
			n++
		}
	}
	return n
}

func compared(share float64) string {
	switch {
	case share < 1.0/3:
		return "less than"
	case share > 1.0/3:
		return "more than"
	}
	return "just"
}

// asReported tells whether share and CPU of the new provider are about what the report
// says.
func asReported(w window) bool {
	return math.Abs(w.share-0.72) <= 0.08 && math.Abs(w.cpu[2]-0.9) <= 0.08
}

func saysNumber(text string, v, off float64) bool {
	n, err := strconv.ParseFloat(text, 64)
	return err == nil && math.Abs(n-v) <= off
}

// says tells whether a text is a share: with a decimal or, from 10 % on, without.
func says(text string, share float64) bool {
	if strings.Contains(text, ".") {
		return saysNumber(text, 100*share, 0.051)
	}
	return len(text) > 1 && saysNumber(text, 100*share, 0.51)
}

func saysMS(text string, d time.Duration) bool {
	return saysNumber(strings.TrimSuffix(text, " ms"), 1e3*d.Seconds(), 0.51)
}

func saysLost(text string, w window) bool {
	text = strings.TrimSuffix(text, " %")
	if text == "none" || strings.HasPrefix(text, "<") {
		return (text == "none") == (w.failed == 0) && float64(w.failed) < 0.0005*float64(w.calls)
	}
	return w.failed > 0 && says(text, float64(w.failed)/float64(w.calls))
}

func saysRange(text string, shares []float64) bool {
	least, most, ok := strings.Cut(strings.ReplaceAll(text, " %", ""), " to ")
	if !ok {
		most = least
	}
	return says(least, slices.Min(shares)) && says(most, slices.Max(shares))
}

func saysCount(text string, n, all int) bool {
	return map[string]int{"none": 0, "all": all, fmt.Sprint(n): n}[text] == n && (text != fmt.Sprint(n) || n > 0 && n < all)
}

func saysFair(text string, share float64) bool {
	if text == "about a fair share" {
		return math.Abs(3*share-1) <= 0.11
	}
	if times, ok := strings.CutSuffix(text, " times a fair share"); ok {
		return saysNumber(times, 3*share, 0.051)
	}
	percent, ok := strings.CutSuffix(text, " % of a fair share")
	return ok && saysNumber(percent, 300*share, 0.51)
}

func saysCPU(text string, w window) bool {
	m := regexp.MustCompile(`^(\d+)(?: and (\d+))? % on the old providers and (\d+) % on the new one$`).FindStringSubmatch(text)
	if m == nil {
		return false
	}
	if m[2] == "" {
		m[2] = m[1]
	}
	return saysNumber(m[1], 100*w.cpu[0], 0.51) && saysNumber(m[2], 100*w.cpu[1], 0.51) && saysNumber(m[3], 100*w.cpu[2], 0.51)
}

// saysCauses checks a list of causes that are, or are not, as reported.
func saysCauses(r *results, text string, reported bool) bool {
	one := regexp.MustCompile(`([\w ]+?) \(([\d.]+) % of the calls; CPU at (.+? on the new one)(: all that was reported|: not the reported 30 % on the old ones)?\)`)
	list := one.FindAllStringSubmatch(text, -1)
	n := 0
	for i := 1; i < 4; i++ {
		if asReported(r.at(i, "java")) == reported {
			n++
		}
	}
	ok := len(list) == n && strings.Trim(one.ReplaceAllString(text, ""), ", and") == ""
	for _, m := range list {
		name := strings.TrimPrefix(strings.TrimPrefix(m[1], "and "), " and ")
		i := slices.IndexFunc(r.causes, func(c cause) bool { return strings.EqualFold(c.title, strings.TrimSpace(name)) })
		if i < 1 {
			return false
		}
		w := r.at(i, "java")
		old := math.Abs(w.cpu[0]-0.3) <= 0.08 && math.Abs(w.cpu[1]-0.3) <= 0.08
		ok = ok && asReported(w) == reported && says(m[2], w.share) && saysCPU(m[3], w) &&
			(m[4] != "") == reported && (m[4] == ": all that was reported") == (reported && old)
	}
	return ok
}
