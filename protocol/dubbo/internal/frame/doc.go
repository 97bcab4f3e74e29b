// Package frame knows the bytes around a message of the dubbo protocol: the
// 16-byte header and the events. Everything is a pure function of byte slices.
//
//	offset 0  2 bytes  magic da bb
//	       2  1 byte   flags: request, two-way, event; serialization in the low five bits
//	       3  1 byte   status, answers only
//	       4  8 bytes  request id, echoed in the answer
//	      12  4 bytes  length of the body that follows
//
// Numbers are big endian. There is no trailer and no handshake.
package frame
