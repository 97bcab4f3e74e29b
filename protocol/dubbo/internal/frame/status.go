package frame

import "strconv"

// Status is the outcome that an answer carries in its header.
type Status byte

// The statuses. Providers send OK, SerializationError, BadRequest, BadResponse,
// ServiceError, ServerError and PoolExhausted; Java consumers make the others.
const (
	OK                 Status = 20
	SerializationError Status = 25
	ClientTimeout      Status = 30
	ServerTimeout      Status = 31
	ChannelInactive    Status = 35
	BadRequest         Status = 40
	BadResponse        Status = 50
	ServiceNotFound    Status = 60
	ServiceError       Status = 70
	ServerError        Status = 80
	ClientError        Status = 90
	PoolExhausted      Status = 100
)

var statusNames = map[Status]string{
	OK: "OK", SerializationError: "SERIALIZATION_ERROR", ClientTimeout: "CLIENT_TIMEOUT", ServerTimeout: "SERVER_TIMEOUT",
	ChannelInactive: "CHANNEL_INACTIVE", BadRequest: "BAD_REQUEST", BadResponse: "BAD_RESPONSE",
	ServiceNotFound: "SERVICE_NOT_FOUND", ServiceError: "SERVICE_ERROR", ServerError: "SERVER_ERROR",
	ClientError: "CLIENT_ERROR", PoolExhausted: "SERVER_THREADPOOL_EXHAUSTED",
}

// String returns the number and Dubbo's name.
func (s Status) String() string {
	n := strconv.Itoa(int(s))
	if name := statusNames[s]; name != "" {
		return n + " " + name
	}
	return n
}
