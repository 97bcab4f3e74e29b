// Package harness starts and hurts the real things that the integration tests run against: a ZooKeeper server, Java
// providers of every supported Dubbo version, and a TCP relay that cuts, refuses and freezes connections.
//
// A test binary starts everything once and shares it:
//
//	var env *harness.Environment
//
//	func TestMain(m *testing.M) {
//		os.Exit(harness.Main(m, func(e *harness.Environment) { env = e }))
//	}
//
//	func TestEcho(t *testing.T) {
//		for _, version := range env.Versions() {
//			t.Run(version, func(t *testing.T) {
//				provider := env.Shared(version)                     // one per version, for all tests
//				slow := env.StartProvider(t, version, "--delay", "200")  // this test's own, killed with it
//				…
//				env.Table.Record("echoString", version, "ok")       // printed after the last test
//			})
//		}
//	}
//
// [Main] needs a JDK, the jars of ZooKeeper (Debian package zookeeper) and Maven; "make deps" installs them. What is
// missing makes the tests fail with a text that says so, never skip.
//
// # Processes
//
// [ZooKeeper] and [Provider] embed [Process]: Kill, Stop, Pause, Resume and Log work on all of them. Everything listens on
// loopback and on ports of its own (Java providers bind every interface but register the host "localhost."), keeps its
// data and logs in one temporary folder ([Environment.Dir], removed when all tests passed), and dies with the test binary: at the end, on
// Ctrl-C, and on Linux also when the binary is killed.
//
// # Flags of a provider
//
// The flags given to [Environment.StartProvider] are those of the Java program (integration/java, class Options): --group,
// --version, --token, --tag, --weight, --warmup, --actives, --executes, --loadbalance, --timeout, --threads, --payload,
// --heartbeat, --accepts, --serialization, --register-mode, --bootstrap, --delay, --failure-rate, --cold-start and
// more; a flag that starts with -J goes to the JVM, as in "-J-Xmx1g". Name, ports and ZooKeeper's address are filled in.
// The service is [Interface]; its methods are documented in InteropService.java.
//
// # Environment variables
//
//	GOFER_DUBBO_VERSIONS       comma-separated versions to run against; default: every one that integration/java builds
//	GOFER_INTEROP_TABLE        file that gets the interop table as well
//	GOFER_ZOOKEEPER_CLASSPATH  class path of the ZooKeeper server; default: Debian's jars
package harness
