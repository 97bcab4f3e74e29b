package dubbotest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// Providers of Dubbo 3.2 and later report their load to who asks.
func TestLoadReport(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, orders, dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("find(long)", func(id int64) int64 { return id }))
		r := refer(t, p)
		report := func(ask, want string) {
			ctx, reply := gofer.WithReply(gofer.WithAttachment(t.Context(), "lb_adaptive", ask))
			_, err := gofer.Call[int64](ctx, r, "find(long)", int64(1))
			require.NoError(t, err)
			got := reply.Attachment("lb_adaptive")
			if ask == "" || profile == dubbotest.Dubbo26 || profile == dubbotest.Dubbo27 {
				assert.Empty(t, got)
				return
			}
			time, load, _ := strings.Cut(got, ",")
			assert.Regexp(t, `^curTime:\d{13}$`, time)
			assert.Equal(t, want, load)
		}
		report("", "")
		report("anything", "load:10.0")
		p.SetLoad(1e-4)
		report("mem,load", "load:1.0E-4")
		p.SetLoad(-25)
		report("mem,load", "load:-25.0")
	})
}

// Consumers with load balancer adaptive ask at every attempt, whoever has the report
// does not show it.
func TestLoadIsAskedFor(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile dubbotest.Profile) {
		p := dubbotest.Start(t, orders, dubbotest.WithProfile(profile))
		require.NoError(t, p.Handle("find(long)", func(id int64) int64 { return id }))
		require.NoError(t, p.SetAttachment("region", "eu"))
		for params, asked := range map[string]bool{"loadbalance=adaptive": true, "loadbalance=random&find.loadbalance=adaptive": true, "loadbalance=leastactive": false} {
			r := refer(t, p, params)
			ctx, reply := gofer.WithReply(t.Context())
			for range 2 {
				_, err := gofer.Call[int64](ctx, r, "find(long)", int64(1))
				require.NoError(t, err)
				assert.Equal(t, map[string]any{"dubbo": "2.0.2", "region": "eu"}, reply.Attachments())
			}
			_, err := gofer.Call[int64](t.Context(), r, "find(long)", int64(1))
			require.NoError(t, err)
			calls := p.Calls("find")
			for _, c := range calls[len(calls)-3:] {
				assert.Equal(t, map[bool]string{true: "mem,load"}[asked], c.Attachment("lb_adaptive"), params)
			}
		}
	})
}
