package url

import (
	"strings"
	"time"
)

// MethodParam returns the value of a parameter for one method: of "method.key" if
// that is set, else of "key". When "methods" is given only the methods in it have
// keys of their own ("*" is no method); else the text before the first dot is the
// method, as in Java. Overloads share one name.
func (u URL) MethodParam(method, key string) string {
	if e, ok := u.strictMethodParam(method, key); ok {
		return e.value
	}
	return u.Param(key)
}

// strictMethodParam finds "method.key" with a value.
func (u URL) strictMethodParam(method, key string) (param, bool) {
	ps := u.data().params
	i, j := 0, len(ps)
	for i < j {
		m := int(uint(i+j) >> 1)
		if compareJoined(ps[m].key, method, key) < 0 {
			i = m + 1
		} else {
			j = m
		}
	}
	if i == len(ps) || ps[i].value == "" || compareJoined(ps[i].key, method, key) != 0 || !u.hasMethod(method) {
		return param{}, false
	}
	return ps[i], true
}

// compareJoined compares s with method + "." + key without building that.
func compareJoined(s, method, key string) int {
	n := len(method)
	if c := strings.Compare(s[:min(n, len(s))], method); c != 0 {
		return c
	}
	if len(s) == n {
		return -1
	}
	if c := int(s[n]) - '.'; c != 0 {
		return c
	}
	return strings.Compare(s[n+1:], key)
}

// hasMethod reports whether keys that begin with this name and a dot count.
func (u URL) hasMethod(method string) bool {
	list := u.Param("methods")
	if list == "" {
		return method != "" && !strings.Contains(method, ".")
	}
	for m := range strings.SplitSeq(list, ",") {
		if trim(m) == method {
			return true
		}
	}
	return false
}

// Methods returns the names in parameter "methods"; nil when it is absent or "*",
// which says nothing.
func (u URL) Methods() []string {
	list := u.Param("methods")
	if list == "*" {
		return nil
	}
	return SplitList(trim(list))
}

// Method holds the parameters of one method, typed: what a call reads instead of
// the URL. Every field has the default of the table when nothing is set. It is not
// written after [CompileMethod] made it and may be shared.
type Method struct {
	Name string

	Timeout          time.Duration // of one attempt; always > 0
	TimeoutCountdown bool          // tell the provider how much of it is left
	Retries          int           // further attempts after the first; never negative
	Return           bool          // false = one-way
	Sent             bool          // a one-way call waits until it is written
	Actives          int           // most calls in flight at one provider; 0 = no limit

	LoadBalance   string
	Shadow        string // load balancer to compare with, "" = none
	ShadowSample  int    // for one of so many choices
	Cluster       string
	Sticky        bool
	Weight        int // 0 = only if no other provider has weight
	Warmup        time.Duration
	HashNodes     int   // points on the ring
	HashArguments []int // at least one, counted from 0
	Forks         int   // 0 = all
}

// CompileMethod reads the parameters of one method. Applied to the provider as a
// reference sees it ([Merge]) it gives the provider view (timeout, weight, actives,
// loadbalance …), applied to a reference the reference view (retries, cluster …). An
// empty name reads the interface level. Bad values are replaced as [Reader] tells,
// and listed: once per call, so tell a Problem that was seen from a new one.
func CompileMethod(u URL, name string) (Method, []Problem) {
	r := NewReader(u)
	if u.hasKeysOf(name) {
		r.method = name
	}
	m := Method{
		Name: name,

		Timeout:          r.Duration("timeout"),
		TimeoutCountdown: r.Bool("enable-timeout-countdown"),
		Retries:          max(0, r.Int("retries")), // Java's -1 is one attempt, too
		Return:           r.Bool("return"),
		Sent:             r.Bool("sent"),
		Actives:          r.Int("actives"),

		LoadBalance:   r.Text("loadbalance"),
		Shadow:        r.Text("loadbalance.shadow"),
		ShadowSample:  r.Int("loadbalance.shadow.sample"),
		Cluster:       r.Text("cluster"),
		Sticky:        r.Bool("sticky"),
		Weight:        r.Int("weight"),
		Warmup:        r.Duration("warmup"),
		HashNodes:     r.Int("hash.nodes"),
		HashArguments: r.Numbers("hash.arguments"),
		Forks:         r.Int("forks"),
	}
	return m, r.problems
}

// hasKeysOf reports whether any parameter begins with the name and a dot.
func (u URL) hasKeysOf(method string) bool {
	ps := u.data().params
	i, j := 0, len(ps)
	for i < j {
		m := int(uint(i+j) >> 1)
		if compareJoined(ps[m].key, method, "") < 0 {
			i = m + 1
		} else {
			j = m
		}
	}
	return method != "" && i < len(ps) && len(ps[i].key) > len(method) &&
		strings.HasPrefix(ps[i].key, method) && ps[i].key[len(method)] == '.'
}
