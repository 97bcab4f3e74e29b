package url

import (
	"strings"
	"time"
)

// MethodParam returns a parameter of a method: "method.key" if it is set, else "key".
func (u URL) MethodParam(method, key string) string {
	if v := u.Param(method + "." + key); v != "" && u.hasMethod(method) {
		return v
	}
	return u.Param(key)
}

// hasMethod reports whether dotted keys of this method count: when "methods" is
// given only for the names in it, else for every name without a dot.
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

// Method is the typed view of one method's parameters.
type Method struct {
	Name          string
	Timeout       time.Duration
	Retries       int
	LoadBalance   string
	Cluster       string
	Actives       int
	Executes      int
	Weight        int
	Warmup        time.Duration
	Sticky        bool
	Return        bool // false = one-way
	Sent          bool
	Async         bool
	Forks         int
	FailbackTasks int
	HashNodes     int
	HashArguments []int
}

// CompileMethod reads the parameters of one method.
func CompileMethod(u URL, name string) (Method, []Problem) {
	num := func(key string, def int) int {
		if n, err := Int(u.MethodParam(name, key)); err == nil {
			return n
		}
		return def
	}
	m := Method{
		Name: name, Timeout: time.Second, Retries: max(0, num("retries", 2)),
		LoadBalance: u.MethodParam(name, "loadbalance"), Cluster: u.ParamOr("cluster", "failover"),
		Actives: max(0, num("actives", 0)), Executes: max(0, num("executes", 0)), Weight: max(0, num("weight", 100)),
		Warmup: 10 * time.Minute, Sticky: Bool(u.MethodParam(name, "sticky")),
		Return: !strings.EqualFold(u.MethodParam(name, "return"), "false"), Sent: Bool(u.MethodParam(name, "sent")),
		Async: Bool(u.MethodParam(name, "async")), Forks: num("forks", 2), FailbackTasks: num("failbacktasks", 100),
		HashNodes: num("hash.nodes", 160), HashArguments: []int{0},
	}
	if m.LoadBalance == "" {
		m.LoadBalance = "random"
	}
	if d, err := Duration(u.MethodParam(name, "timeout")); err == nil && d > 0 {
		m.Timeout = d
	}
	if d, err := Duration(u.Param("warmup")); err == nil && d >= 0 {
		m.Warmup = d
	}
	return m, nil
}
