// Package hessian2 encodes arguments and decodes results in Hessian 2.0, Dubbo's
// default serialization.
package hessian2
