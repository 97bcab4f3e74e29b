package sim

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// The keys of a scenario's file: one function for each type.

func (y *reader) scenario(n *yaml.Node, s *Scenario) {
	y.mapping(n, fields{
		"about":     y.text(&s.About),
		"duration":  y.time(&s.Duration),
		"settle":    none(y, &s.Settle, y.time(&s.Settle)),
		"load":      y.number(&s.Load),
		"rate":      y.number(&s.Rate),
		"consumers": y.whole(&s.Consumers),
		"deadline":  y.time(&s.Deadline),
		"network":   part(&s.Network, y.network),
		"notify":    none(y, &s.Notify, y.time(&s.Notify)),
		"requests":  list(y, &s.Requests, y.request),
		"keys":      part(&s.Keys, y.keys),
		"long":      part(&s.Long, y.long),
		"providers": list(y, &s.Providers, y.provider),
	})
}

func (y *reader) network(n *yaml.Node, to *Network) {
	y.mapping(n, fields{"delay": y.time(&to.Delay), "jitter": y.time(&to.Jitter)})
}

func (y *reader) request(n *yaml.Node, to *Request) {
	y.mapping(n, fields{
		"share": y.number(&to.Share), "mean": y.time(&to.Mean), "cv": none(y, &to.CV, y.number(&to.CV)), "wait": y.time(&to.Wait),
	})
}

func (y *reader) keys(n *yaml.Node, to *Keys) {
	y.mapping(n, fields{"count": y.whole(&to.Count), "zipf": none(y, &to.Zipf, y.number(&to.Zipf)), "hot": y.number(&to.Hot)})
}

func (y *reader) long(n *yaml.Node, to *Long) {
	y.mapping(n, fields{"each": y.number(&to.Each), "lasts": y.time(&to.Lasts), "cpu": y.number(&to.CPU)})
}

func (y *reader) provider(n *yaml.Node, to *Provider) {
	y.mapping(n, fields{
		"count":   y.whole(&to.Count),
		"workers": y.whole(&to.Workers),
		"speed":   y.number(&to.Speed),
		"sharing": y.yes(&to.Sharing),
		"threads": y.whole(&to.Threads),
		"network": part(&to.Network, y.network),
		"weight":  none(y, &to.Weight, y.whole(&to.Weight)),
		"params":  y.params(&to.Params),
		"cache":   part(&to.Cache, y.cache),
		"cold":    part(&to.Cold, y.cold),
		"joins":   part(&to.Joins, func(n *yaml.Node, at *time.Duration) { y.time(at)(n) }),
		"leaked":  y.whole(&to.Leaked),
		"faults":  list(y, &to.Faults, y.fault),
	})
}

// params are any keys of a provider's URL.
func (y *reader) params(to *map[string]string) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		values := make([]string, len(n.Content))
		known := fields{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			known[n.Content[i].Value] = y.text(&values[i])
		}
		y.mapping(n, known)
		*to = map[string]string{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			(*to)[n.Content[i].Value] = values[i]
		}
	}
}

func (y *reader) cache(n *yaml.Node, to *Cache) {
	y.mapping(n, fields{"keys": y.whole(&to.Keys), "miss": y.number(&to.Miss), "hits": none(y, &to.Hits, y.number(&to.Hits))})
}

func (y *reader) cold(n *yaml.Node, to *Cold) {
	y.mapping(n, fields{
		"slow": y.number(&to.Slow), "cpu": none(y, &to.CPU, y.number(&to.CPU)), "for": y.time(&to.For),
		"heal": y.time(&to.Heal), "requests": y.number(&to.Requests),
	})
}

func (y *reader) fault(n *yaml.Node, to *Fault) {
	y.mapping(n, fields{
		"at": y.time(&to.At), "for": y.time(&to.For), "every": y.time(&to.Every), "stagger": y.time(&to.Stagger),
		"error": y.number(&to.Error), "in": none(y, &to.In, y.time(&to.In)), "slow": y.number(&to.Slow),
		"pause": y.yes(&to.Pause), "kill": y.yes(&to.Kill), "leave": y.yes(&to.Leave),
	})
}
