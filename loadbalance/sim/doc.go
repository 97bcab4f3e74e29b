// Package sim simulates a cluster of providers and its consumers in virtual time,
// to see what a load balancer does there before a service does.
package sim
