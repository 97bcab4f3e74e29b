// Package dubbotest is an in-process dubbo provider, for tests and demonstrations
// without a JVM.
package dubbotest
