// Package url holds the Dubbo URL: how it is written, read, merged and understood.
package url
