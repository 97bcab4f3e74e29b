package url

import (
	"slices"
	"strings"
)

// Merge returns the URL of a provider as a reference sees it: the provider's
// address and path with the parameters of both. Where both have one the
// reference's wins, but these stay the provider's:
//
//   - timestamp and remote.timestamp (its start), release, dubbo, methods,
//     dubbo.tag, even when the provider has none;
//   - group, version and generic, when the provider has one. A wildcard or a list
//     of groups is never taken over: Java puts it on the wire, where it is not found.
//
// Settings of the provider's threads are dropped. Its application becomes
// remote.application; its reference.filter and invoker.listener come before those
// of the reference. An empty value of the reference is none and hides nothing. A
// provider without a path gets the interface as path.
//
// A provider's "find.timeout" beats a reference's "timeout", as in Java (B168): see
// [URL.MethodParam].
func Merge(provider, reference URL) URL {
	p, r := provider.data().params, reference.data().params
	ps := make([]param, 0, len(p)+len(r)+1)
	for len(p) > 0 || len(r) > 0 {
		switch {
		case len(r) == 0 || len(p) > 0 && p[0].key < r[0].key:
			if !serverOnly(p[0].key) {
				ps = append(ps, p[0])
			}
			p = p[1:]
		case len(p) == 0 || r[0].key < p[0].key:
			if v := overlay(r[0], ""); v != "" {
				ps = append(ps, param{r[0].key, v})
			}
			r = r[1:]
		default:
			if v := overlay(r[0], p[0].value); v != "" {
				ps = append(ps, param{r[0].key, v})
			} else if !serverOnly(p[0].key) {
				ps = append(ps, p[0])
			}
			p, r = p[1:], r[1:]
		}
	}
	if app := provider.Param("application"); app != "" {
		const key = "remote.application"
		i, ok := search(ps, key)
		if !ok {
			ps = slices.Insert(ps, i, param{key: key})
		}
		ps[i].value = app
	}
	u := provider.withParams(ps)
	if u.Path() == "" {
		u.d.path = u.Param("interface") // u is new and nobody else's
	}
	return u
}

// overlay is what a parameter of the reference puts over the provider's, "" for
// nothing.
func overlay(e param, provider string) string {
	switch strings.TrimPrefix(e.key, defaultPrefix) {
	case "release", "dubbo", "methods", "timestamp", "remote.timestamp", "dubbo.tag":
		return ""
	case "group", "version":
		if provider != "" || strings.ContainsAny(e.value, "*,") {
			return ""
		}
	case "generic":
		if provider != "" {
			return ""
		}
	case "reference.filter", "invoker.listener":
		if provider != "" && e.value != "" {
			return provider + "," + e.value
		}
	}
	return e.value
}

// serverOnly tells the parameters of a provider's threads and network.
func serverOnly(key string) bool {
	switch strings.TrimPrefix(key, defaultPrefix) {
	case "threadname", "threadpool", "corethreads", "threads", "queues", "alive", "transporter":
		return true
	}
	return false
}

// StartTime is when a provider started, in milliseconds since 1970: its
// "timestamp", else the "remote.timestamp" that Dubbo 2.6 keeps. Warm-up begins
// there; a changed one is a restart. ok is false when neither is a positive number.
// On the URL of a reference it is the consumer's start.
func (u URL) StartTime() (ms int64, ok bool) {
	for _, key := range [...]string{"timestamp", "remote.timestamp"} {
		if ms, err := Long(u.Param(key)); err == nil && ms > 0 {
			return ms, true
		}
	}
	return 0, false
}
