package dubbotest

import (
	"github.com/gofer-rpc/gofer/protocol/dubbo/internal/frame"
)

// Profile is the release line of Dubbo that a provider behaves like, where they
// differ: what it answers to calls that it cannot serve, how it stops, whether it
// sends heartbeats, what it registers.
type Profile int

// The profiles, each as its last release with default settings.
const (
	Dubbo27 Profile = iota // 2.7.23, the default
	Dubbo26                // 2.6.12
	Dubbo32                // 3.2.16: error texts and events in fastjson2
	Dubbo33                // 3.3.6: exceptions that are not on the allow list become status 50
)

// String returns the release.
func (p Profile) String() string {
	switch p {
	case Dubbo26:
		return "2.6.12"
	case Dubbo32:
		return "3.2.16"
	case Dubbo33:
		return "3.3.6"
	default:
		return "2.7.23"
	}
}

// modern reports Dubbo 3.
func (p Profile) modern() bool { return p == Dubbo32 || p == Dubbo33 }

// pkg is the package of Dubbo's classes.
func (p Profile) pkg() string {
	if p == Dubbo26 {
		return "com.alibaba.dubbo"
	}
	return "org.apache.dubbo"
}

// serialization is what everything is written in that is no result of a call.
func (p Profile) serialization() byte {
	if p == Dubbo32 {
		return frame.Fastjson2
	}
	return frame.Hessian2
}

// takesAttachments reports whether an answer to a request of the protocol version
// may carry attachments.
func (p Profile) takesAttachments(version string) bool {
	n := versionNumber(version)
	if p == Dubbo26 {
		return n >= 2_00_02 && !(2_00_10 <= n && n <= 2_06_02)
	}
	return 2_00_02 <= n && n <= 2_00_99
}

// versionNumber makes 2_00_02 of "2.0.2"; 0 of what is no version.
func versionNumber(text string) int {
	n, part, digits, parts := 0, 0, 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i < len(text) && '0' <= text[i] && text[i] <= '9' && digits < 2:
			part = part*10 + int(text[i]-'0')
			digits++
		case digits > 0 && parts < 3 && (i == len(text) || text[i] == '.'):
			n, part, digits, parts = n*100+part, 0, 0, parts+1
		default:
			return 0
		}
	}
	for ; parts < 3; parts++ {
		n *= 100
	}
	return n
}
