package frame

// Event is what the body of an event says.
type Event uint8

// The events. A heartbeat is a two-way Null. A one-way Null is a [ReadOnly] that
// lost its text: providers from 2.7.23 on send it so when writing the event to
// another consumer failed.
const (
	Null     Event = iota // no text
	ReadOnly              // "R": no new calls on this connection, please
	Writable              // "W": new calls are welcome again
	Other
)

// The bodies, which are constants: a Hessian null and strings of one character;
// in fastjson2's JSONB the same behind a length of four bytes.
var (
	hessianNull  = []byte{'N'}
	fastjsonNull = []byte{0, 0, 0, 1, 0xaf}
)

// EventOf reads the body of an event. What it does not know is [Other]: events are
// never a reason to give up a connection.
func EventOf(serialization byte, body []byte) Event {
	var c byte
	switch b := body; {
	case serialization == Fastjson2:
		switch {
		case string(b) == string(fastjsonNull):
			return Null
		case len(b) == 6 && string(b[:5]) == "\x00\x00\x00\x02\x4a":
			c = b[5]
		}
	case string(b) == string(hessianNull):
		return Null
	case len(b) == 2 && b[0] == 1:
		c = b[1]
	}
	switch c {
	case 'R':
		return ReadOnly
	case 'W':
		return Writable
	}
	return Other
}

// AppendHeartbeat appends a heartbeat.
func AppendHeartbeat(b []byte, id uint64) []byte {
	h := Header{Request: true, TwoWay: true, Event: true, Serialization: Hessian2, ID: id, Length: len(hessianNull)}
	return append(h.Append(b), hessianNull...)
}

// AppendHeartbeatAnswer appends the answer to the heartbeat of the given header,
// in the heartbeat's own serialization as far as it is known.
func AppendHeartbeatAnswer(b []byte, request Header) []byte {
	body, serialization := hessianNull, Hessian2
	if request.Serialization == Fastjson2 {
		body, serialization = fastjsonNull, Fastjson2
	}
	h := Header{Event: true, Serialization: serialization, Status: OK, ID: request.ID, Length: len(body)}
	return append(h.Append(b), body...)
}
