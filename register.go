package gofer

import "github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"

// Register makes Go types known as Java classes: structs with a method
// JavaClassName() string, and enums as dubbo-go-hessian2 defines them. An example
// of each type is enough: Register(&Order{}, &Item{}, Red). Types that
// [Method] names as results, or that are registered already, need no second call.
//
// The registration is for the process, since the codec library keeps it so: a Java
// class belongs to one Go type. The error names the type and the class in conflict.
func Register(examples ...any) error { return hessian2.Register(examples...) }
