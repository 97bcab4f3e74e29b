//go:build !race

package main

// slow: the race detector makes simulations dear.
const slow = false
