package url

import "strings"

// Merge returns the provider as one reference sees it.
func Merge(provider, reference URL) URL {
	p, r := provider.data(), reference.data()
	ps := make([]param, 0, len(p.params)+len(r.params)+1)
	for _, e := range p.params {
		if !serverOnly(e.key) {
			ps = append(ps, e)
		}
	}
	for _, e := range r.params {
		if v := mergeValue(provider, e); v != "" {
			ps = append(ps, param{e.key, v})
		}
	}
	if app := provider.Param("application"); app != "" {
		ps = append(ps, param{"remote.application", app})
	}
	u := provider.withParams(normalize(ps))
	if u.Path() == "" {
		u = u.WithPath(u.Param("interface"))
	}
	return u
}

func serverOnly(key string) bool {
	switch strings.TrimPrefix(key, defaultPrefix) {
	case "threadname", "threadpool", "corethreads", "threads", "queues", "alive", "transporter":
		return true
	}
	return false
}

// mergeValue is what a parameter of the reference puts over the provider's, or "".
func mergeValue(provider URL, e param) string {
	switch e.key {
	case "release", "dubbo", "methods", "timestamp", "remote.timestamp", "dubbo.tag":
		return ""
	case "group", "version":
		if provider.Param(e.key) != "" || strings.ContainsAny(e.value, "*,") {
			return ""
		}
	case "generic":
		if provider.Param(e.key) != "" {
			return ""
		}
	case "reference.filter", "invoker.listener":
		if v := provider.Param(e.key); v != "" && e.value != "" {
			return v + "," + e.value
		}
	}
	return e.value
}

// StartTime is when the provider started, in milliseconds since 1970.
func (u URL) StartTime() (ms int64, ok bool) {
	for _, key := range [...]string{"timestamp", "remote.timestamp"} {
		if ms, err := Long(u.Param(key)); err == nil && ms > 0 {
			return ms, true
		}
	}
	return 0, false
}
