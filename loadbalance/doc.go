// Package loadbalance chooses the provider of a call.
package loadbalance
