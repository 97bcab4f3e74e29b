package registry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestConsumerURL(t *testing.T) {
	start := time.UnixMilli(1795980000000)
	u := ConsumerURL(reference(t, "group=g1&version=1.0.0&timeout=5&token=geheim"), "shop-web", "10.1.2.3", 4711, start)
	assert.Equal(t, "consumer://10.1.2.3/"+iface+"?application=shop-web&category=consumers&check=false&dubbo=2.0.2&group=g1&interface="+
		iface+"&pid=4711&release=gofer&side=consumer&timestamp=1795980000000&version=1.0.0", u.Full())

	u = ConsumerURL(reference(t, "register.ip=198.51.100.7"), "", "10.1.2.3", 1, start)
	assert.Equal(t, "consumer://198.51.100.7/"+iface+"?category=consumers&check=false&dubbo=2.0.2&interface="+
		iface+"&pid=1&release=gofer&side=consumer&timestamp=1795980000000", u.Full())
}
