package sim

import "time"

// Scenario describes a cluster and what happens to it: providers, consumers,
// requests, faults. The zero value of every field means its default, so that a
// scenario says only what is special about it; where 0 would make sense, too, it is
// called [None]. In a file a 0 that is written is one: honoured, or a mistake. It is
// data: running it changes nothing in it.
type Scenario struct {
	Name  string // of the file, without its ending
	About string // one line for people

	Duration time.Duration // measured time, default 60 s; requests that arrive in it are counted
	// Settle is the time before it, for estimates and caches to settle; default 5 s, or
	// None. The requests of that time come half as often, in twice the time.
	Settle time.Duration

	// Load is the share of the cluster's capacity that arrives, default 0.7; see
	// [Scenario.Capacity]. Or, instead, Rate in requests per second.
	Load float64
	Rate float64

	Consumers int           // default 3; each has a strategy of its own
	Deadline  time.Duration // of a request, default 1 s; there are no retries
	Network   *Network      // nil: 0.25 ms one way, and 0.1 ms more on average
	Notify    time.Duration // consumers learn of a change within this time, default 300 ms, or None

	Requests  []Request // the kinds that are mixed, default one of 10 ms
	Keys      *Keys     // what requests are about, for caches and hashing; nil: nothing
	Long      *Long     // long requests that keep no worker; nil: none
	Providers []Provider
}

// Network is the way between consumers and a provider.
type Network struct {
	Delay  time.Duration // one way
	Jitter time.Duration // mean of what is added to it, exponential
}

// Request is one kind of request.
type Request struct {
	Share float64       // among the kinds, default 1
	Mean  time.Duration // of the time on a worker of speed 1, default 10 ms
	// CV is the coefficient of variation of that time: 1, the default, is
	// exponential, anything else lognormal; None is constant.
	CV float64
	// Wait is the mean of a further time that takes neither worker nor CPU, such as that of a
	// call to a database; exponential. Where [Provider.Threads] are limited the request keeps
	// one of them meanwhile.
	Wait time.Duration
}

// Keys are what requests are about.
type Keys struct {
	Count int     // how many, default 20,000
	Zipf  float64 // exponent of their popularity, default 1.1; None: all are alike
	Hot   float64 // share of the requests that one further key has for itself
}

// Long are requests that stay for minutes without keeping a worker, such as a
// subscription or a long poll. They are not measured. At the beginning Each of them
// are at every provider of old, per consumer; when they end new ones take their
// place, wherever the strategy sends them.
type Long struct {
	Each  float64       // per consumer and provider that is up before the beginning
	Lasts time.Duration // mean, exponential; default 10 min
	// CPU is the share of a core that each takes. It is counted and slows nobody.
	CPU float64
}

// Provider is a group of equal providers.
type Provider struct {
	Count   int     // default 1
	Workers int     // requests that are worked on at once, or cores when Sharing; default 4
	Speed   float64 // default 1
	// Sharing: all requests inside share the cores, as in Dubbo's pool of threads without a
	// queue (threads: 200 is its default). Without it a request waits for a free worker.
	Sharing bool
	// Threads is how many requests may be inside, those that [Request.Wait] included; more
	// are refused. With fewer threads than workers some of these are never used. 0: no limit.
	Threads int
	Network *Network // nil: that of the scenario

	Weight int // 0: not said, so Dubbo's 100; None: a weight of 0
	// Params are further parameters of the provider's URL. Of those that gofer knows these
	// do something: warmup and weight; hash.nodes and hash.arguments, where keys are hashed;
	// outlier, outlier.failures and outlier.pause, for the load balancers of this module,
	// as Dubbo's consumers eject nobody. Others that gofer knows are mistakes. Any that it
	// does not know are for [Options.Balancers]; without any, a run refuses a name that is
	// nearly one of those.
	Params map[string]string

	Cache  *Cache         // nil: none
	Cold   *Cold          // of a life that begins during the scenario; nil: none
	Joins  *time.Duration // when it starts ([At]); nil: it is up from long before the beginning
	Leaked int            // calls per consumer that Java's counters of calls under way have lost: they never end
	Faults []Fault
}

// Cache keeps the latest keys of a provider. A new life begins with an empty one.
type Cache struct {
	Keys int     // how many fit
	Miss float64 // a miss takes so many times as long, default 4
	Hits float64 // share of hits with which the capacity is counted, default 1, or None
}

// Cold is the beginning of a life: requests take Slow times as long, for a time or
// for a number of requests. What counts is when the work on a request begins: it stays as
// slow as that until its end.
type Cold struct {
	Slow     float64       // requests take so many times as long on a worker
	CPU      float64       // what they take of the CPU, in the same way; default and most: Slow; or None
	For      time.Duration // so long unchanged
	Heal     time.Duration // then falling to normal, in a line
	Requests float64       // instead: it falls by the factor e every so many requests
}

// Fault is what happens to a provider of a group, to all of the group at once
// unless Every or Stagger is set. Exactly one of the kinds is set. The order of faults
// means nothing. When several hold at once: slow ones multiply; of errors the most
// frequent counts; pauses are one pause from the first beginning to the last end; and
// so are Kill and Leave together, with the end of the process at the first Kill.
type Fault struct {
	At  time.Duration // since the beginning of the measured time
	For time.Duration
	// Every: it comes back about so often, at moments of its own for every provider,
	// for half to one and a half times For.
	Every   time.Duration
	Stagger time.Duration // each further provider of the group has it so much later

	Error float64       // so many of the requests (1: all) fail, In after they come
	In    time.Duration // default 2 ms, or None
	// Slow: requests on which work begins meanwhile take so many times as long, to their end.
	// Those that are being worked on when it begins stay as fast as they were. (A pause holds
	// up all.)
	Slow  float64
	Pause bool // nothing is worked on: a garbage collection, a hang
	Kill  bool // the process dies, what it has is lost; it starts anew after For
	Leave bool // it takes leave, works off what it has, and starts anew after For
}

// None is 0 in a field whose zero value means a default: Settle: sim.None. Only the
// fields that say so know it.
const None = -1

// At returns a moment of the measured time, for [Provider.Joins].
func At(d time.Duration) *time.Duration { return &d }
