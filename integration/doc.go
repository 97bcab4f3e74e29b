// Package integration tests gofer against the real thing: a ZooKeeper server and
// Dubbo providers of versions 2.6.12, 2.7.23, 3.2.16 and 3.3.6. The tests need
// Java and have the build tag integration; "make test" installs what they need and
// runs them.
//
// Package harness starts and stops the servers, package interop has the Go types
// of the Java test service, folder java the service itself.
package integration
