// Command quality compares load balancers in simulated clusters: of each the 99th
// percentile and the mean of the time of a call, as ratios to the better of two reference
// choosers that see everything, in every scenario; the best first, the worst case named.
//
//	go run ./loadbalance/sim/cmd/quality                       # the core scenarios, 3 seeds: minutes
//	go run ./loadbalance/sim/cmd/quality -scenarios hashing -policies ringload,consistenthash
//	go run ./loadbalance/sim/cmd/quality -file shop.yml        # your own cluster
//	go run ./loadbalance/sim/cmd/quality -variant ps -seeds 1  # providers that share their cores
//
// All names and figures of the command line are checked before the first run
// (flags.go). Where stderr is a terminal it shows how far the runs are (progress.go).
// The exit code is 0, 1 for a run that failed, 2 for a command line that is wrong, 130
// after an interrupt: nothing is printed then.
package main
