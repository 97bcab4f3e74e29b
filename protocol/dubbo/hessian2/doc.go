// Package hessian2 is the codec of Dubbo calls: arguments to bytes, answers to
// values, in Hessian 2.0, Dubbo's default serialization.
//
//	b, err = hessian2.AppendArguments(b, []any{"a", int64(42), &Order{ID: 7}})
//	remote, err := hessian2.DecodeResult(body, &protocol.Result{Target: &order})
//
// It writes what Java's hessian-lite writes, byte by byte for scalars, and reads
// what hessian-lite 3.2 and 4.0 and other encoders write. It has its own encoder
// and decoder and shares the vocabulary of dubbo-go-hessian2: types with a method
// JavaClassName, struct tags `hessian:"name"`, POJOEnum, its types for java.math,
// java.time, java.sql and exceptions, and its registry. That library's own codec
// panics, corrupts messages or ends the process on inputs that a provider can send;
// tests hold the two against each other where the library is right.
//
// Nothing that comes from outside is believed: nesting is bounded, lengths count
// only as far as there are bytes, and every fault is an error with the position
// ([DecodeError]) or the argument and path ([ArgumentError]).
//
// # From Go to Java
//
//	bool, int8, int16, int32, uint8, uint16     boolean, int
//	int, int64, uint, uint32, uint64            long
//	float32, float64                            double with the same decimal text
//	string, hessian.Rune                        String, char
//	[]byte, []int8                              byte[]
//	time.Time                                   java.util.Date; the zero time is null
//	[]T, [n]T                                   T[], also for a List, Set or Collection
//	[]any and slices without a Java type        ArrayList, also for arrays
//	map[K]V                                     HashMap
//	map[string]any with the key "_class"        an object of that class
//	struct with a Java class, pointer to one    an object of the class
//	POJOEnum                                    the constant of that name
//	pointers; nil                               what they point to; null
//
// Named types are sent as what they are made of. Pointers, slices and maps that
// occur twice in a request arrive as one object, cycles as cycles. A nil slice or
// map is null, an empty one is empty.
//
// # From Java to Go
//
// A value goes into a wanted Go type when nothing is lost: numbers widen, and what
// does not fit is an error that names value and place. null is the zero value (use
// a pointer to tell them apart). Fields are matched by name; unknown ones are left
// out, missing ones keep their zero value. An enum also goes into a string, an
// object or a map also into a map or struct, a java.time value that names a moment
// into a time.Time.
//
// Without a wanted type (any), the natural value is
//
//	boolean, int (byte, short), long, double (float)    bool, int32, int64, float64
//	String, char, char[]                                string
//	byte[]                                              []byte
//	Date                                                time.Time, in UTC
//	String[], int[], long[], double[], boolean[] …      []string, []int32, []int64, []float64, []bool …
//	Integer[] …, arrays of a registered class           []*int32 …, []*T
//	other arrays, all collections                       []any
//	maps with string keys only, other maps              map[string]any, map[any]any
//	an object of a registered class                     *T
//	a constant of a registered enum                     T
//	an object of another class                          map[string]any with the Java class under "class"
//	BigDecimal, BigInteger, UUID, LocalDate …           the types of dubbo-go-hessian2
//	Optional, AtomicInteger, Timestamp …                what they hold
//
// A list or map that is a key of a map becomes its text ([Text]). Values may be
// cyclic, as Java's may; take care when walking them.
//
// # Exceptions
//
// An exception becomes a [protocol.RemoteError] with its class, message, fields,
// stack trace and causes, whether or not Go knows the class; if it does, the Go
// value comes with it. What Dubbo wrapped is unwrapped: a GenericException is the
// exception it names, and a RuntimeException in which a provider printed one that
// the interface does not declare has that as its cause.
package hessian2
