//go:build !race

package main

// crowd is the number of callers in tests: so many that shares say more than chance.
const crowd = 48
