package sim

import (
	"math"
	"strconv"
	"strings"
)

// javaMetrics is Dubbo's AdaptiveMetrics: what adaptive knows about a provider.
type javaMetrics struct {
	providerTime int64 // ms, of the provider's clock
	currentTime  int64 // ms, of the provider's clock or, after a read, of this one
	cpu          float64
	lastLatency  int64
	pickTime     int64
	req, ok, err int64
	ewma         float64
}

// load is a read that writes. A provider that was not picked for two timeouts has
// none, and right after an answer the latency that was measured is overwritten with
// two timeouts (F6); without a report, cpu is 0 and the load with it (F5).
func (m *javaMetrics) load(now int64, weight, timeout int32) float64 {
	if now-m.pickTime > int64(timeout*2) {
		return 0
	}
	if m.currentTime > 0 {
		if k := (now-m.currentTime)/int64(timeout) + 1; k > 0 {
			if m.providerTime == m.currentTime {
				m.lastLatency = int64(timeout * 2)
			} else {
				m.lastLatency >>= uint64(k) & 63
			}
			m.smooth()
			m.currentTime = now
		}
	}
	inflight := float64(m.req - m.ok - m.err)
	success := float64(m.ok) / float64(m.req+1)
	rest := float64(success*float64(weight)) + 1
	return float64(float64(m.cpu*(math.Sqrt(m.ewma)+1))*(inflight+1)) / rest
}

func (m *javaMetrics) smooth() {
	old, last := float64(0.5*m.ewma), float64(0.5*float64(m.lastLatency))
	m.ewma = old + last
}

// update takes a report in.
func (m *javaMetrics) update(report map[string]string) {
	at := javaLong(report["curTime"])
	if m.providerTime > at {
		return
	}
	m.providerTime, m.currentTime = at, at
	m.cpu = javaDouble(report["load"])
	m.lastLatency = javaLong(report["rt"])
	m.smooth()
}

// javaLong reads digits, of anything else it makes 0.
func javaLong(text string) int64 {
	if strings.Trim(text, "0123456789") != "" {
		return 0
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// javaDouble reads digits with at most one dot: a negative number, or a small one,
// which Java writes with an E, is 0.
func javaDouble(text string) float64 {
	if strings.Trim(strings.Replace(text, ".", "", 1), "0123456789") != "" {
		return 0
	}
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

// javaCompare compares two loads as Java does, by the signed value of their bits
// (F19): negative when a is the lesser.
func javaCompare(a, b float64) int {
	x, y := int64(math.Float64bits(a)), int64(math.Float64bits(b))
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// javaAdaptive is "adaptive" of Dubbo 3.3: the lesser load of two providers.
type javaAdaptive struct {
	w       *world
	timeout int32 // ms
	metrics []javaMetrics
	report  map[string]string
}

func newJavaAdaptive(w *world) javaRule {
	b := &javaAdaptive{w: w, timeout: int32(max(1, w.s.Deadline.Milliseconds())), metrics: make([]javaMetrics, len(w.servers)), report: map[string]string{}}
	for i := range b.metrics {
		b.metrics[i].pickTime = clock(w.now).UnixMilli()
	}
	return b
}

func (b *javaAdaptive) choose(j *java, _ *request) int {
	n := len(j.list)
	p1, p2 := 0, 1
	if n > 2 {
		p1, p2 = j.rng.IntN(n), j.rng.IntN(n-1)
		if p2 >= p1 {
			p2++
		}
	}
	w1, w2 := j.weight33(p1), j.weight33(p2)
	chosen := p1
	switch c := javaCompare(b.load(j, p1, w1), b.load(j, p2, w2)); {
	case c > 0:
		chosen = p2
	case c == 0:
		chosen = j.drawn([]int{p1, p2}, j.weight33)
	}
	m := &b.metrics[j.list[chosen]]
	m.req++
	m.pickTime = j.ms()
	return chosen
}

func (b *javaAdaptive) load(j *java, i int, weight int32) float64 {
	return b.metrics[j.list[i]].load(j.ms(), weight, b.timeout)
}

func (b *javaAdaptive) begun(*java, *request) {}

// ended is the consumer's filter. What it does on a worker of its own is done here
// at once.
func (b *javaAdaptive) ended(j *java, r *request, a answer) {
	m := &b.metrics[r.server]
	if a != served {
		m.err++
		return
	}
	m.ok++
	for part := range strings.SplitSeq(r.report.text(), ",") {
		key, value, _ := strings.Cut(part, ":")
		b.report[key] = value
	}
	b.report["rt"] = strconv.FormatInt(j.ms()-clock(r.at).UnixMilli(), 10)
	m.update(b.report)
}
