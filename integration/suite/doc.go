// Package suite is one set of tests for two worlds: Java providers and a real ZooKeeper
// on the one hand, the fakes that users test with, dubbotest and zktest, on the other.
//
// A suite does not assert, it observes: every step is something done with gofer, and
// its [Outcome] is what came of it, as facts in text: value, code, class, message and
// fields of an exception, attachments of the answer. What varies from run to run, such
// as addresses, is taken out. Each step knows what it expects ([Observation.Wrong]), and
// [Compare] finds what is not the same in both worlds.
//
//	real := stageOfJava.Observe(ctx)
//	fake := suite.NewFakes(t, "3.3.6").Observe(ctx)
//	for _, d := range suite.Compare(real, fake) {
//		t.Error(d) // echoInt: echoInt(int) int32 47 as int: value differs …
//	}
//
// # Suites
//
// The protocol suite ([Stage.Observe]) calls every method of the interop service, in
// every way a call can end, at two providers of a Dubbo version. Its fakes are
// dubbotest providers of that version's profile, which serve the Go form of the service
// (interop.Serve) and register in a zktest server.
//
// The registry suite ([ObserveRegistry]) changes and hurts a ZooKeeper and watches what
// a client makes of it, and compares the answers and events of the server itself. Cuts
// and silence come from a harness.Relay, which stands before either server.
//
// # Without Java
//
// The unit tests of this package play the suites on the fakes and compare them with
// recordings in testdata: what the real servers showed. The integration tests play them
// on both, compare both with each other, and fail when the recordings do not hold any
// more. After a change of the suite they are made again by
//
//	go test -tags integration -run TestSuite ./integration -args -record
package suite
