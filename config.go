package gofer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// Config is configuration in Dubbo's words: from files, the environment and
// options. It is not changed after [Load] and safe for concurrent use. Its text
// form shows no values. These are the keys:
//
//	dubbo.application.name                       and other attributes of the application
//	dubbo.registry.address                       or dubbo.registries.<id>.address; group, username, password, session …
//	dubbo.consumer.<parameter>                   for all references; dubbo.reference.<parameter> goes before it
//	dubbo.references.<id>.interface              declares a reference
//	dubbo.references.<id>.<parameter>            also dubbo.reference.<id>.<parameter>
//	dubbo.references.<id>.<method>.<parameter>   also dubbo.references.<id>.methods.<method>.<parameter>
//	dubbo.reference.<interface>.<parameter>      for every reference to it, and declares one if there is none
//	dubbo.reference.<interface>.<id>.<parameter>
//
// Parameters are those of the table in README.md; others can be set below
// parameters: "parameters.<key>" or "parameters" = "[{k1:v1},{k2:v2}]". What belongs
// to providers and to Java (dubbo.provider, dubbo.protocol …) is accepted with a
// warning.
type Config struct {
	files      []string
	env        environment
	properties []property // of two for one key of one source the later counts
	reading    findings   // what reading the files has found
	bound      *bindings
}

// configFiles are looked for when Load is called without names, the weakest first.
var configFiles = []string{"dubbo.properties", "application.yml", "application.yaml", "application.properties"}

// Load reads configuration files and the variables DUBBO_… of the environment.
// YAML (*.yml, *.yaml), of which only dubbo: is used, may be nested or have dotted
// keys; properties (*.properties) are in Java's syntax, in UTF-8.
//
//	dubbo:
//	  application: { name: shop-web }
//	  registry: { address: "zookeeper://${ZK_HOST:127.0.0.1}:2181" }
//	  consumer: { timeout: 3s }
//	  references:
//	    orders: { interface: com.example.OrderService, version: 1.0.0, find: { timeout: 300 } }
//
// A name is read in any of Dubbo's spellings: connect-timeout, connectTimeout,
// connect_timeout. Times are milliseconds or Go durations. ${key:default} takes a
// variable of the environment or a property. Without names Load reads those of
// dubbo.properties, application.yml, application.yaml and application.properties
// that are there.
//
// Where one property has several values, the order of Dubbo 3.3 decides: the
// environment, then application files, then code ([WithReference] …), then
// dubbo*.properties; of several files of a kind the later one. Different from Java
// it holds for dubbo.references.<id>, too, which there only fills what code left
// unset. What is set for a method goes before what is set for the reference, that
// before dubbo.reference.<parameter> for all references, that before
// dubbo.consumer, that before dubbo.application. Only then come the providers' own
// parameters, as [Client.Refer] tells.
//
// [New] alone reads neither files nor the environment: give it the result with
// [WithConfig].
//
// The error, a [*ConfigError], lists everything that is wrong, each with its place;
// there is no Config then. What is only doubtful is in [Config.Warnings].
func Load(files ...string) (*Config, error) {
	optional := len(files) == 0
	if optional {
		files = configFiles
	}
	c := &Config{env: newEnvironment(os.Environ())}
	var found findings
	for _, file := range files {
		text, err := readConfigFile(file)
		if optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			found.problem(property{origin: Origin{File: file}}, "%v", err)
			continue
		}
		properties, f := parseConfigFile(file, text)
		found.add(f)
		c.files = append(c.files, file)
		c.properties = append(c.properties, properties...)
	}
	if err := found.err(); err != nil {
		return nil, fmt.Errorf("gofer: configuration: %w", err)
	}
	c.properties = append(c.properties, c.env.properties()...)
	c.reading = found
	if err := c.bind(false).bound.err(); err != nil {
		return nil, fmt.Errorf("gofer: configuration: %w", err)
	}
	return c, nil
}

// bind gives the properties their meaning. final tells that nothing more will
// come: what is missing is wrong, too.
func (c *Config) bind(final bool) *Config {
	c.bound = bind(c.env, c.properties, final)
	c.bound.warnings = append(slices.Clone(c.reading.warnings), c.bound.warnings...)
	c.bound.sort(c.files)
	return c
}

// with returns the configuration with the properties that options set. c may be nil.
func (c *Config) with(code []property) *Config {
	next := &Config{}
	if c != nil {
		*next = *c
	}
	next.properties = slices.Concat(next.properties, code)
	return next.bind(true)
}

// References returns the ids of all references, sorted.
func (c *Config) References() []string { return slices.Sorted(maps.Keys(c.bound.resolved)) }

// Warnings returns what is doubtful: keys that nobody knows, sections and
// attributes without effect here, properties set twice.
func (c *Config) Warnings() []ConfigProblem { return slices.Clone(c.bound.warnings) }

// String names the files. It shows no values.
func (c *Config) String() string {
	return fmt.Sprintf("gofer.Config{files: %s; references: %s}", strings.Join(c.files, ", "), strings.Join(c.References(), ", "))
}

// GoString is [Config.String], so that %#v shows no secrets either.
func (c *Config) GoString() string { return c.String() }

// find returns a reference by its id.
func (c *Config) find(id string) (*resolvedReference, error) {
	if r := c.bound.resolved[id]; r != nil {
		return r, nil
	}
	ids := c.References()
	text := fmt.Sprintf("gofer: no reference %q in the configuration", id)
	if near := url.NearestOf(id, ids); near != "" {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	if len(ids) == 0 {
		return nil, errors.New(text + ": set dubbo.references." + id + ".interface, or use WithReference")
	}
	return nil, fmt.Errorf("%s (known: %s)", text, strings.Join(ids, ", "))
}
