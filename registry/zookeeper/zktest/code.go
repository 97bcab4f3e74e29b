package zktest

import "fmt"

// Op is the kind of a request, by its number in the protocol.
type Op int32

// The requests.
const (
	OpCreate          Op = 1
	OpDelete          Op = 2
	OpExists          Op = 3
	OpGetData         Op = 4
	OpSetData         Op = 5
	OpGetACL          Op = 6
	OpSetACL          Op = 7
	OpGetChildren     Op = 8
	OpSync            Op = 9
	OpPing            Op = 11
	OpGetChildren2    Op = 12 // with the node's Stat: what Go clients send
	OpCheck           Op = 13
	OpMulti           Op = 14
	OpCreate2         Op = 15
	OpCheckWatches    Op = 17
	OpRemoveWatches   Op = 18
	OpCreateContainer Op = 19
	OpCreateTTL       Op = 21
	OpAuth            Op = 100
	OpSetWatches      Op = 101
	OpGetEphemerals   Op = 103
	OpCountChildren   Op = 104
	OpSetWatches2     Op = 105
	OpAddWatch        Op = 106
	OpCloseSession    Op = -11
)

var opNames = map[Op]string{
	OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData", OpSetData: "setData",
	OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping",
	OpGetChildren2: "getChildren2", OpCheck: "check", OpMulti: "multi", OpCreate2: "create2",
	OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",
	OpCreateTTL: "createTTL", OpAuth: "auth", OpSetWatches: "setWatches", OpGetEphemerals: "getEphemerals",
	OpCountChildren: "getAllChildrenNumber", OpSetWatches2: "setWatches2", OpAddWatch: "addWatch",
	OpCloseSession: "closeSession",
}

// String returns the name of the request.
func (o Op) String() string {
	if s := opNames[o]; s != "" {
		return s
	}
	return fmt.Sprintf("op %d", int32(o))
}

// Code is the result of a request, by its number in the protocol. As an error it
// is returned by the methods of [Server] that change nodes.
type Code int32

// The codes that the server sends.
const (
	OK                      Code = 0
	RuntimeInconsistency    Code = -2
	Unimplemented           Code = -6
	BadArguments            Code = -8
	NoNode                  Code = -101
	NoAuth                  Code = -102
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	InvalidACL              Code = -114
	AuthFailed              Code = -115
	NoWatcher               Code = -121

	// CutBefore and CutAfter are no codes of the protocol: given to
	// [Server.FailNext] they cut the connection instead of an answer, before
	// the request is carried out or after it.
	CutBefore Code = 1
	CutAfter  Code = 2
)

var codeNames = map[Code]string{
	OK: "ok", RuntimeInconsistency: "runtime inconsistency", Unimplemented: "unimplemented",
	BadArguments: "bad arguments", NoNode: "no node", NoAuth: "no permission", BadVersion: "bad version",
	NoChildrenForEphemerals: "ephemerals have no children", NodeExists: "node exists", NotEmpty: "not empty",
	InvalidACL: "invalid ACL", AuthFailed: "authentication failed", NoWatcher: "no watcher",
	CutBefore: "cut before", CutAfter: "cut after",
}

// Error returns the code in words.
func (c Code) Error() string {
	if s := codeNames[c]; s != "" {
		return "zktest: " + s
	}
	return fmt.Sprintf("zktest: code %d", int32(c))
}
