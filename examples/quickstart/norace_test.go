//go:build !race

package main

// crowd is the number of callers in tests.
const crowd = 12
