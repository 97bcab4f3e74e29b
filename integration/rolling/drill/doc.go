// Package drill hurts one of several providers while calls run, and tells which calls
// that has cost: none when a provider is stopped, those under way at it when it is
// killed.
//
//	load := drill.Start(reference, 8)              // eight callers, one call after another
//	err := drill.Roll(ctx, load, drill.Stop, a, b) // each member in turn, until it is used again
//	report := load.End()                           // calls, failures, who served
//
// The members are Java providers ([Java]) or in-process ones ([InProcess]).
package drill
