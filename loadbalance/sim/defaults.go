package sim

import "time"

// Defaults, where no field says otherwise.
const (
	defaultDuration  = 60 * time.Second
	defaultSettle    = 5 * time.Second
	defaultLoad      = 0.7
	defaultConsumers = 3
	defaultDeadline  = time.Second
	defaultNotify    = 300 * time.Millisecond
	defaultMean      = 10 * time.Millisecond
	defaultWorkers   = 4
	defaultKeys      = 20_000
	defaultZipf      = 1.1
	defaultLong      = 10 * time.Minute
	defaultMiss      = 4
	defaultErrorIn   = 2 * time.Millisecond
)

var defaultNetwork = Network{Delay: 250 * time.Microsecond, Jitter: 100 * time.Microsecond}

// or replaces the zero value by a default.
func or[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// orNone is or for what None stands for 0 in.
func orNone[T int | float64 | time.Duration](v *T, def T) {
	switch *v {
	case 0:
		*v = def
	case None:
		*v = 0
	}
}

// filled returns the scenario with all defaults filled in, sharing nothing that
// changes with s. To fill it in twice makes a default of a 0.
func (s *Scenario) filled() *Scenario {
	f := *s
	or(&f.Duration, defaultDuration)
	orNone(&f.Settle, defaultSettle)
	or(&f.Consumers, defaultConsumers)
	or(&f.Deadline, defaultDeadline)
	orNone(&f.Notify, defaultNotify)
	if f.Rate == 0 {
		or(&f.Load, defaultLoad)
	}
	if f.Network == nil {
		f.Network = &defaultNetwork
	}
	f.Requests = append([]Request(nil), s.Requests...)
	if len(f.Requests) == 0 {
		f.Requests = []Request{{}}
	}
	for i := range f.Requests {
		r := &f.Requests[i]
		or(&r.Share, 1)
		or(&r.Mean, defaultMean)
		orNone(&r.CV, 1)
	}
	if s.Keys != nil {
		k := *s.Keys
		or(&k.Count, defaultKeys)
		orNone(&k.Zipf, defaultZipf)
		f.Keys = &k
	}
	if s.Long != nil {
		l := *s.Long
		or(&l.Lasts, defaultLong)
		f.Long = &l
	}
	f.Providers = make([]Provider, len(s.Providers))
	for i := range s.Providers {
		f.Providers[i] = s.Providers[i].filled(&f)
	}
	return &f
}

func (p Provider) filled(s *Scenario) Provider {
	or(&p.Count, 1)
	or(&p.Workers, defaultWorkers)
	or(&p.Speed, 1)
	if p.Network == nil {
		p.Network = s.Network
	}
	if p.Cache != nil {
		c := *p.Cache
		or(&c.Miss, defaultMiss)
		orNone(&c.Hits, 1)
		p.Cache = &c
	}
	if p.Cold != nil {
		c := *p.Cold
		orNone(&c.CPU, c.Slow)
		p.Cold = &c
	}
	p.Faults = append([]Fault(nil), p.Faults...)
	for i := range p.Faults {
		if p.Faults[i].Error > 0 {
			orNone(&p.Faults[i].In, defaultErrorIn)
		}
	}
	return p
}
