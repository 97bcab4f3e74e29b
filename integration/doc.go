// Package integration tests gofer against the real things: a ZooKeeper server and Java providers of Dubbo 2.6, 2.7, 3.2
// and 3.3. Its tests have the build tag "integration"; "make integration" builds what they need and runs them. Package
// harness starts the servers, folder java holds the source of the providers.
package integration
