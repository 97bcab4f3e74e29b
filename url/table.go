package url

import "slices"

const (
	onReference = ScopeReference
	onProvider  = ScopeProvider
	onRegistry  = ScopeRegistry
	onRule      = ScopeRule
	onService   = ScopeReference | ScopeProvider | ScopeRule // what a rule may override
)

// section is a part of the table under its own heading in the documentation.
type section struct {
	title string
	rows  []Parameter
}

// table holds every row, in the order of the sections. It is not changed after
// initialisation.
var table = newTable()

var sections = []section{
	{"Calls", callRows},
	{"Choice of providers", clusterRows},
	{"Which service", serviceRows},
	{"Connections", connectionRows},
	{"Registry", registryRows},
	{"Rules", ruleRows},
	{"Written by providers and consumers", informationRows},
	{"Known to Java only", javaRows},
}

func newTable() []Parameter {
	var all []Parameter
	for _, s := range sections {
		all = append(all, s.rows...)
	}
	for i := range all {
		p := &all[i]
		if p.Default != "" {
			p.def, _, _ = p.parse(p.Default)
		}
	}
	return slices.Clip(all)
}

var callRows = []Parameter{
	{Key: "timeout", Type: TypeTime, Default: "1000", Scope: onService, Level: LevelMethod, zeroUnset: true,
		Doc: "Time for one attempt, waiting for a slot and for the connection included; 0 is the same as not given."},
	{Key: "retries", Type: TypeInt, Default: "2", Min: -1, Scope: onService, Level: LevelMethod, clamped: true,
		Doc: "Further attempts after the first one fails; 0 and less are none. Cluster failback takes 3 when it is not given."},
	{Key: "actives", Type: TypeInt, Default: "0", Scope: onService, Level: LevelMethod,
		Doc: "Most calls of a method in flight at one provider; 0 is no limit."},
	{Key: "return", Type: TypeBool, Default: "true", Scope: onService, Level: LevelMethod,
		Doc: "false makes calls one-way: nobody waits for an answer."},
	{Key: "sent", Type: TypeBool, Default: "false", Scope: onService, Level: LevelMethod,
		Doc: "A one-way call returns when it is written to the connection."},
	{Key: "async", Type: TypeBool, Default: "false", Scope: onService, Level: LevelMethod, Ignored: true,
		Doc: "Java's asynchronous calls; in Go whoever does not want to wait starts a goroutine."},
	{Key: "invocationid.autoattach", Type: TypeBool, Default: "false", Scope: onService, Level: LevelMethod, Ignored: true,
		Doc: "Adds the attachment id, a number, to every call."},
	{Key: "enable-timeout-countdown", Type: TypeBool, Default: "false", Scope: onService, Level: LevelMethod,
		Doc: "Tells the provider how much time is left, so that calls it makes in turn end in time."},
	{Key: "mock", Type: TypeText, Scope: onService, Level: LevelMethod, Ignored: true,
		Doc: "What to answer in place of a failed call (fail:return …) or of every call (force:return …), escaped."},
	{Key: "reference.filter", Type: TypeList, Scope: onService,
		Doc: "Filters to add, or with - to leave out; those the provider asks for come first."},
	{Key: "accesslog", Type: TypeText, Scope: onService, Ignored: true,
		Doc: "Writes a line per call: true for the logger, else a file."},
	{Key: "tps", Type: TypeInt, Default: "-1", Min: -1, Scope: onService, Ignored: true,
		Doc: "Most calls in a time of tps.interval; -1 is no limit."},
	{Key: "tps.interval", Type: TypeTime, Default: "60000", Min: 1, Scope: onService, Ignored: true,
		Doc: "The time that tps counts calls in."},
	{Key: "token", Type: TypeText, Scope: onService,
		Doc: "Secret that the provider wants with every call; sent back to it, never logged."},
	{Key: "generic", Type: TypeChoice, Values: []string{"true", "false"}, Default: "false", Scope: onReference,
		Doc: "Calls without types. Generic calls need no setting here."},
	{Key: "generic", Type: TypeText, Scope: onProvider | onRule, Doc: "The provider implements no interface but GenericService."},
}

var clusterRows = []Parameter{
	{Key: "cluster", Type: TypeText, Default: "failover", Scope: onReference,
		Doc: "What to do when a call fails, such as failover or failfast."},
	{Key: "loadbalance", Type: TypeText, Default: "random", Scope: onService, Level: LevelMethod,
		Doc: "How to choose among providers, such as random, roundrobin or leastactive; true is the default, as in Java."},
	{Key: "loadbalance.shadow", Type: TypeText, Scope: onService, Level: LevelMethod,
		Doc: "Asks this load balancer, too, and only compares its answer: see Snapshot. Unknown to Java."},
	{Key: "loadbalance.shadow.sample", Type: TypeInt, Default: "1", Min: 1, Scope: onService, Level: LevelMethod,
		Doc: "Asks it for one of so many choices; 1 is all."},
	{Key: "weight", Type: TypeInt, Default: "100", Scope: onService, Level: LevelMethod, clamped: true,
		Doc: "Share of a provider; 0 and less is only if no other has weight. Set by a reference it is that of all its providers."},
	{Key: "warmup", Type: TypeTime, Default: "600000", Scope: onService, clamped: true,
		Doc: "Time after its start in which a provider's weight grows; 0 and less is at once."},
	{Key: "sticky", Type: TypeBool, Default: "false", Scope: onService, Level: LevelMethod,
		Doc: "Stays with a provider as long as it works."},
	{Key: "outlier", Type: TypeBool, Default: "true", Scope: onService,
		Doc: "Takes a provider that keeps failing out of the choice for a while. Unknown to Java."},
	{Key: "outlier.failures", Type: TypeInt, Default: "5", Min: 1, Scope: onService,
		Doc: "Failures in a row after which that happens. A refused connection is reason enough alone."},
	{Key: "outlier.pause", Type: TypeTime, Default: "1000", Min: 1, Scope: onService,
		Doc: "For how long the first time; the pause doubles each time in a row, up to 30 s. At its end one call is tried there."},
	{Key: "hash.nodes", Type: TypeInt, Default: "160", Min: 4, Max: 65536, Scope: onService, Level: LevelMethod,
		Doc: "Points of a provider on the ring of consistenthash, rounded down to a multiple of 4."},
	{Key: "hash.arguments", Type: TypeNumbers, Default: "0", Min: -1 << 31, Scope: onService, Level: LevelMethod,
		Doc: "Which arguments consistenthash hashes, counted from 0; what is no argument is passed over, as in Java."},
	{Key: "shortestResponseSlidePeriod", Type: TypeTime, Default: "30000", Min: 1, Scope: onReference,
		Doc: "Time over which loadbalance shortestresponse averages. Java reads it from its global configuration."},
	{Key: "forks", Type: TypeInt, Default: "2", Scope: onService, Level: LevelMethod, Ignored: true,
		Doc: "Providers that cluster forking calls at once; 0 is all."},
	{Key: "failbacktasks", Type: TypeInt, Default: "100", Min: 1, Scope: onService, Ignored: true,
		Doc: "Failed calls that cluster failback keeps for later."},
	{Key: "broadcast.fail.percent", Type: TypeInt, Default: "100", Max: 100, Scope: onService, Ignored: true,
		Doc: "Share of failures at which cluster broadcast gives up."},
	{Key: "merger", Type: TypeText, Scope: onService, Level: LevelMethod, Ignored: true,
		Doc: "How cluster mergeable joins the results of several groups."},
	{Key: "cluster.availablecheck", Type: TypeBool, Default: "true", Scope: onService | onRegistry, Ignored: true,
		Doc: "Passes over providers without a usable connection."},
	{Key: "router", Type: TypeList, Scope: onReference, Ignored: true,
		Doc: "Routers to add, or with - to leave out."},
	{Key: "dubbo.tag", Type: TypeText, Scope: onService,
		Doc: "Tag of a provider, or the one a reference asks for."},
	{Key: "dubbo.force.tag", Type: TypeBool, Default: "false", Scope: onReference, Ignored: true,
		Doc: "Without a provider of the tag, fails rather than taking one without a tag."},
	{Key: "disabled", Type: TypeBool, Default: "false", Scope: onProvider | onRule,
		Doc: "Takes a provider out."},
	{Key: "enabled", Type: TypeText, Default: "true", Scope: onService,
		Doc: "false takes a provider or a rule out; * on a reference asks for such providers, too."},
}

var serviceRows = []Parameter{
	{Key: "interface", Type: TypeText, Scope: onService,
		Doc: "Java interface; without it the path is."},
	{Key: "group", Type: TypeName, Scope: onService,
		Doc: "Group of the service; a reference may ask for any (*) or several (a,b)."},
	{Key: "version", Type: TypeName, Scope: onService,
		Doc: "Version of the service; a reference may ask for any (*)."},
	{Key: "classifier", Type: TypeText, Scope: onReference | onProvider,
		Doc: "A further mark that reference and provider must share; * is any."},
	{Key: "protocol", Type: TypeList, Scope: onReference,
		Doc: "Protocols a provider may have; this library speaks dubbo."},
	{Key: "methods", Type: TypeList, Scope: onService,
		Doc: "Names of the methods. When given, only these may have parameters of their own."},
	{Key: "application", Type: TypeText, Scope: onService | onRegistry,
		Doc: "Name of the application that wrote the URL."},
	{Key: "url", Type: TypeText, Scope: onReference,
		Doc: "Addresses of providers to call without a registry, escaped."},
	{Key: "check", Type: TypeBool, Default: "true", Scope: onReference,
		Doc: "Fails at the start when there is no provider."},
	{Key: "init", Type: TypeBool, Default: "true", Scope: onReference, Ignored: true,
		Doc: "Connects at the start rather than at the first call."},
	{Key: "injvm", Type: TypeChoice, Values: []string{"false"}, Scope: onReference,
		Doc: "Services of the same process; there are none in Go."},
	{Key: "scope", Type: TypeChoice, Values: []string{"remote"}, Scope: onReference,
		Doc: "Where to look for the service; local is impossible in Go."},
	{Key: "provided-by", Type: TypeList, Scope: onReference, Ignored: true,
		Doc: "Applications that provide the service, for discovery by application."},
	{Key: "register.ip", Type: TypeText, Scope: onReference,
		Doc: "Address under which a consumer shows in the registry."},
}

var connectionRows = []Parameter{
	{Key: "connections", Type: TypeInt, Default: "0", Scope: onService,
		Doc: "Own connections per provider; 0 shares those of the address."},
	{Key: "shareconnections", Type: TypeInt, Default: "1", Min: 1, Scope: onReference,
		Doc: "Shared connections per address."},
	{Key: "lazy", Type: TypeBool, Default: "false", Scope: onReference,
		Doc: "Connects to a provider at its first call."},
	{Key: "connect.timeout", Type: TypeTime, Default: "3000", Scope: onService, zeroUnset: true,
		Doc: "Time to connect."},
	{Key: "heartbeat", Type: TypeTime, Default: "60000", Scope: onService,
		Doc: "Silence after which a connection is probed; 0 is never."},
	{Key: "heartbeat.timeout", Type: TypeTime, Scope: onService, zeroUnset: true,
		Doc: "Silence after which a connection is given up; three heartbeats when not given, at least two."},
	{Key: "payload", Type: TypeInt, Default: "8388608", Min: -1, Scope: onService, clamped: true,
		Doc: "Most bytes of a request or an answer; 0 and less are no limit."},
	{Key: "serialization", Type: TypeChoice, Values: []string{"hessian2"}, Default: "hessian2", Scope: onReference,
		Doc: "How values are written; this library writes hessian2, which every provider reads."},
	{Key: "serialization", Type: TypeText, Scope: onProvider | onRule,
		Doc: "What a provider writes when it is not asked for anything else."},
	{Key: "prefer.serialization", Type: TypeList, Scope: onProvider,
		Doc: "What a provider would rather have; hessian2 is read all the same."},
	{Key: "ssl-enabled", Type: TypeBool, Default: "false", Scope: onService,
		Doc: "The provider speaks TLS."},
	{Key: "ext.protocol", Type: TypeList, Scope: onProvider,
		Doc: "Further protocols on the same port."},
	{Key: "preferred.protocol", Type: TypeText, Scope: onProvider,
		Doc: "Which of its protocols the provider would rather be called with."},
}

var registryRows = []Parameter{
	{Key: "backup", Type: TypeList, Scope: onRegistry,
		Doc: "Further servers of the same ensemble."},
	{Key: "group", Type: TypeText, Default: "dubbo", Scope: onRegistry,
		Doc: "Root path of everything; keeps environments apart."},
	{Key: "timeout", Type: TypeTime, Default: "5000", Scope: onRegistry, zeroUnset: true,
		Doc: "Time to wait for the registry and a provider at the start, when check is true."},
	{Key: "session", Type: TypeTime, Default: "30000", Scope: onRegistry, zeroUnset: true,
		Doc: "Session time to ask for; the server may choose another. Java asks for 60000."},
	{Key: "zk.session.expire", Type: TypeTime, Scope: onRegistry, zeroUnset: true,
		Doc: "Name of session in Dubbo 2.7."},
	{Key: "check", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "Fails at the start when the registry cannot be reached."},
	{Key: "register", Type: TypeBool, Default: "true", Scope: onRegistry,
		Doc: "Shows this consumer in the registry."},
	{Key: "subscribe", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "Takes providers from the registry."},
	{Key: "dynamic", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "What is registered goes with the session."},
	{Key: "simplified", Type: TypeBool, Default: "false", Scope: onRegistry, Ignored: true,
		Doc: "Registers only the parameters that others need."},
	{Key: "extra-keys", Type: TypeList, Scope: onRegistry, Ignored: true,
		Doc: "Parameters to register although simplified."},
	{Key: "username", Type: TypeText, Scope: onRegistry | onProvider,
		Doc: "User to log in as, if not in the address."},
	{Key: "password", Type: TypeText, Scope: onRegistry | onProvider,
		Doc: "Password to log in with, if not in the address; never logged."},
	{Key: "file", Type: TypeText, Scope: onRegistry,
		Doc: "File that keeps the last lists for a start without registry; not given, one below ~/.gofer/registry."},
	{Key: "file-cache", Type: TypeBool, Default: "true", Scope: onRegistry,
		Doc: "Keeps the last lists in a file."},
	{Key: "file.cache", Type: TypeBool, Default: "true", Scope: onRegistry,
		Doc: "Name of file-cache in Dubbo 2.7."},
	{Key: "retry.period", Type: TypeTime, Default: "5000", Min: 1, Scope: onRegistry, Ignored: true,
		Doc: "Time between attempts to repeat what failed."},
	{Key: "retry.times", Type: TypeInt, Default: "-1", Min: -1, Scope: onRegistry, Ignored: true,
		Doc: "How often to repeat what failed; -1 is without end."},
	{Key: "delay-notification", Type: TypeTime, Default: "5000", Scope: onRegistry, Ignored: true,
		Doc: "Time between two notifications."},
	{Key: "enable-empty-protection", Type: TypeBool, Default: "true", Scope: onRegistry | onReference,
		Doc: "When no provider is listed any more, keeps those that are connected, while they are. Dubbo's default is false: it would go on with dead ones, too. Turn it off where providers are taken out of the registry by hand."},
	{Key: "zone", Type: TypeText, Scope: onRegistry, Ignored: true,
		Doc: "Zone of a registry among several."},
	{Key: "weight", Type: TypeInt, Default: "100", Scope: onRegistry, Ignored: true,
		Doc: "Share of a registry among several."},
	{Key: "preferred", Type: TypeBool, Default: "false", Scope: onRegistry, Ignored: true,
		Doc: "Takes this registry first among several."},
	{Key: "registry.preferred", Type: TypeBool, Default: "false", Scope: onRegistry, Ignored: true,
		Doc: "The same in Dubbo 2.7."},
	{Key: "cluster", Type: TypeText, Default: "zone-aware", Scope: onRegistry, Ignored: true,
		Doc: "How to choose among several registries."},
	{Key: "registry", Type: TypeText, Scope: onRegistry,
		Doc: "Protocol of the registry when that of the URL is registry."},
	{Key: "register-mode", Type: TypeChoice, Values: []string{"interface", "instance", "all"}, Scope: onRegistry | onProvider, Ignored: true,
		Doc: "How Dubbo 3 providers register: by interface, by application, or both."},
	{Key: "registry-type", Type: TypeText, Scope: onRegistry, Ignored: true,
		Doc: "service is discovery by application."},
	{Key: "use-as-config-center", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "Reads rules from the registry, too."},
	{Key: "use-as-metadata-center", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "Reads metadata from the registry, too."},
	{Key: "namespace", Type: TypeText, Default: "dubbo", Scope: onRegistry, Ignored: true,
		Doc: "Root path of the rules when it is not that of the registry."},
	{Key: "enable-configuration-listen", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "Follows override rules."},
	{Key: "enable-26x-configuration-listen", Type: TypeBool, Default: "true", Scope: onRegistry, Ignored: true,
		Doc: "Follows rules in the form of Dubbo 2.6."},
}

var ruleRows = []Parameter{
	{Key: "category", Type: TypeList, Default: "providers", Scope: onReference | onProvider | onRule,
		Doc: "Folder of the registry the URL lies in."},
	{Key: "priority", Type: TypeInt, Default: "0", Min: -1 << 31, Scope: onRule, Ignored: true,
		Doc: "Order of rules, the higher the later or stronger."},
	{Key: "rule", Type: TypeText, Scope: onRule, Ignored: true, Doc: "Text of a routing rule, escaped."},
	{Key: "force", Type: TypeBool, Default: "false", Scope: onRule, Ignored: true,
		Doc: "Leaves no provider rather than ignoring a routing rule that matches none."},
	{Key: "runtime", Type: TypeBool, Default: "false", Scope: onRule, Ignored: true, Doc: "Applies a routing rule at every call."},
	{Key: "router", Type: TypeText, Scope: onRule, Ignored: true, Doc: "Kind of a routing rule, such as condition."},
	{Key: "name", Type: TypeText, Scope: onRule, Ignored: true, Doc: "Name of a rule."},
	{Key: "type", Type: TypeText, Scope: onRule, Ignored: true, Doc: "Kind of a rule file's entry, or of a script."},
	{Key: "configVersion", Type: TypeText, Scope: onRule, Ignored: true, Doc: "Form of the rule file an override came from."},
	{Key: "compatible_config", Type: TypeText, Scope: onRule, Ignored: true, Doc: "Marks a rule that is only there for old consumers."},
	{Key: "providerAddresses", Type: TypeList, Scope: onRule, Ignored: true, Doc: "Providers an override is for."},
}
