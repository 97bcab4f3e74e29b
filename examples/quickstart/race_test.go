//go:build race

package main

// crowd is the number of callers in tests: the race detector makes calls dear.
const crowd = 6
