// Package url holds the Dubbo URL: how it is read, written, merged and understood.
//
// A URL is how Dubbo says everything. A provider registers itself as one
//
//	dubbo://192.0.2.10:20880/com.example.OrderService?version=1.0.0&timeout=3000&find.timeout=300
//
// under a ZooKeeper node whose name is that text, escaped; a consumer asks with one
// (consumer://…), a registry is addressed by one (zookeeper://…), a rule may be one
// (override://…). It looks like the URLs of net/url and is not: nothing is escaped
// in the plain form, ';' separates parameters like '&', an IPv6 address may lack its
// brackets, and of a list of hosts the last port is the URL's.
//
// # Reading and writing
//
// [Parse] reads the plain text, [ParseEncoded] the name of a node, [New] takes
// parts. [URL] is an immutable value with accessors and With… methods.
// [URL.Full] and [URL.Encode] write what Java writes, byte for byte. [URL.String]
// is for logs and hides user info, passwords and tokens. The names Dubbo has for a
// service ("group/interface:version" and its kin) are methods, too: [URL.ServiceKey].
//
// # Parameters
//
// All parameters this library knows stand in one table: key, type, default, where
// they mean something, and whether a method may have its own ("find.timeout"). See
// [Table] and [Lookup]; [Markdown] is the same for people. [Validate] names every
// bad value, [Warnings] what is likely a mistake, [Nearest] the key that was meant.
//
// A time is written in whole milliseconds, as Dubbo does, or as a Go duration: 3000
// and 3s are the same. Java understands only the former.
//
// # What a call uses
//
//	merged := url.Merge(provider, reference)           // the provider as this consumer sees it
//	find, problems := url.CompileMethod(merged, "find") // typed, defaults filled in
//	find.Timeout                                        // 300ms
//
// [Merge] follows Dubbo 2.7, with its faults mended. [CompileMethod] turns texts
// into values once, so that no call parses a number: a bad value from a provider is
// replaced by the next best and reported. [Reader] does the same for the parameters
// of connections and registries.
//
// Everything here is safe for concurrent use except a Reader.
package url
