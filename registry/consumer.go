package registry

import (
	"strconv"
	"time"

	"github.com/gofer-rpc/gofer/url"
)

// protocolVersion is the value of "dubbo" that every release since 2.6.3 writes.
const protocolVersion = "2.0.2"

// ConsumerURL returns the URL that makes a reference visible under the consumers
// of its interface ([Registry.Register]): the parameters of Dubbo's simplified
// form and the few that admin tools look for. Everything else about the reference
// stays private. A parameter "register.ip" of the reference replaces ip.
func ConsumerURL(reference url.URL, application, ip string, pid int, start time.Time) url.URL {
	params := map[string]string{
		"category":  "consumers",
		"check":     "false",
		"dubbo":     protocolVersion,
		"interface": reference.Interface(),
		"pid":       strconv.Itoa(pid),
		"release":   "gofer",
		"side":      "consumer",
		"timestamp": strconv.FormatInt(start.UnixMilli(), 10),
	}
	for key, value := range map[string]string{
		"application": application,
		"group":       reference.Param("group"),
		"version":     reference.Param("version"),
	} {
		if value != "" {
			params[key] = value
		}
	}
	return url.New("consumer", reference.ParamOr("register.ip", ip), 0, reference.Interface(), params)
}
