package cluster

import (
	"go.uber.org/zap"

	"github.com/gofer-rpc/gofer/protocol"
)

// logPanic logs a panic that was made an error with [protocol.Recovered].
func logPanic(log *zap.Logger, message string, recovered *protocol.Error, fields ...zap.Field) {
	e := recovered.Cause.(*protocol.PanicError)
	log.Error(message, append(fields, zap.Error(e), zap.ByteString("stack", e.Stack))...)
}
