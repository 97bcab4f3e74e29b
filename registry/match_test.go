package registry

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/url"
)

func TestMatch(t *testing.T) {
	const address = "dubbo://192.0.2.10:20880/" + iface
	tests := []struct {
		name      string
		reference string // parameters
		provider  string // whole URL; a leading '?' stands for address
		reason    string // "" = used
	}{
		{"plain", "", "?", ""},
		{"parameters that do not matter", "timeout=5", "?weight=3&anyhost=true", ""},

		{"same group", "group=g1", "?group=g1", ""},
		{"other group", "group=g1", "?group=g2", "group g2, reference wants g1"},
		{"reference without group", "", "?group=g2", "group g2, reference has none"},
		{"provider without group", "group=g1", "?", "no group, reference wants g1"},
		{"any group", "group=*", "?group=g2", ""},
		{"any group, none given", "group=*", "?", ""},
		{"listed group", "group=g1, g2", "?group=g2", ""},
		{"group not listed", "group=g1,g2", "?group=g3", "group g3, reference wants g1,g2"},
		{"part of a listed group", "group=g10,g2", "?group=g1", "group g1, reference wants g10,g2"},
		{"no group against a list", "group=g1,g2", "?", "no group, reference wants g1,g2"},

		{"same version", "version=1.0.0", "?version=1.0.0", ""},
		{"other version", "version=1.0.0", "?version=2.0.0", "version 2.0.0, reference wants 1.0.0"},
		{"reference without version", "", "?version=2.0.0", "version 2.0.0, reference has none"},
		{"provider without version", "version=1.0.0", "?", "no version, reference wants 1.0.0"},
		{"any version", "version=*", "?version=2.0.0", ""},
		{"version list is no list", "version=1.0.0,2.0.0", "?version=2.0.0", "version 2.0.0, reference wants 1.0.0,2.0.0"},
		{"0.0.0 is not none", "version=0.0.0", "?", "no version, reference wants 0.0.0"},
		{"both differ", "group=g1&version=1.0.0", "?group=g2&version=2.0.0", "group g2, reference wants g1; version 2.0.0, reference wants 1.0.0"},

		{"classifier not asked for", "", "?classifier=x", ""},
		{"other classifier", "classifier=y", "?classifier=x", "classifier x, reference wants y"},

		{"disabled", "", "?disabled=true", "disabled=true"},
		{"disabled, in capitals", "", "?disabled=TRUE", "disabled=true"},
		{"not disabled wins", "", "?disabled=false&enabled=false", ""},
		{"not enabled", "", "?enabled=false", "enabled=false"},
		{"enabled in Java's sense only", "", "?enabled=1", "enabled=1"},
		{"enabled empty is absent", "", "?enabled=", ""},
		{"asked for disabled ones", "enabled=*", "?enabled=false", "enabled=false"},

		{"other protocol", "", "tri://192.0.2.10:50051/" + iface, "protocol tri is not spoken"},
		{"two protocols on one port", "", "tri://192.0.2.10:20880/" + iface + "?ext.protocol=dubbo,&ispuserver=true", ""},
		{"two other protocols", "", "tri://192.0.2.10:20880/" + iface + "?ext.protocol=rest,", "protocol tri is not spoken"},
		{"ours with another", "", "?ext.protocol=tri,", ""},
		{"protocol asked for", "protocol=tri, dubbo", "?", ""},
		{"other protocol asked for", "protocol=tri,rest", "?", "protocol dubbo, reference wants tri,rest"},
		{"cleared list", "", "empty://192.0.2.10/" + iface + "?category=providers", "protocol empty is not spoken"},

		{"interface parameter", "", "dubbo://192.0.2.10:20880/ctx/x?interface=" + iface, ""},
		{"other interface", "", "?interface=com.example.Other", "interface com.example.Other, reference wants " + iface},
		{"any interface at the provider", "", "?interface=*", ""},
		{"no interface, as very old providers", "", "dubbo://192.0.2.10:20880", ""},
		{"category providers", "", "?category=providers", ""},
		{"other category", "", "?category=routers", "category routers, not providers"},

		{"no host", "", "dubbo:///" + iface, "no host"},
		{"no port", "", "dubbo://192.0.2.10/" + iface, "no port"},
		{"port out of range", "", "dubbo://192.0.2.10:70000/" + iface, "port 70000 is out of range"},
		{"several hosts", "", "dubbo://192.0.2.10:1,192.0.2.11:2/" + iface, "several hosts in one entry: 192.0.2.10:1,192.0.2.11"},
		{"IPv6", "", "dubbo://[2001:db8::1]:20880/" + iface, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.provider
			if strings.HasPrefix(text, "?") {
				text = address + text
			}
			m := newMatcher(reference(t, tt.reference))
			use, reason := m.match(parse(t, text))
			require.Equal(t, tt.reason, reason)
			if reason == "" {
				assert.Equal(t, "dubbo", use.Protocol())
				assert.NotEmpty(t, use.Path())
			}
		})
	}
}

// TestMatchInterfaceWildcard: group and version are compared whatever the interface is (B174).
func TestMatchInterfaceWildcard(t *testing.T) {
	m := newMatcher(parse(t, "consumer://192.0.2.100/*?interface=*&group=g1"))
	_, reason := m.match(parse(t, "dubbo://192.0.2.10:20880/com.example.Other?group=g1"))
	assert.Empty(t, reason)
	_, reason = m.match(parse(t, "dubbo://192.0.2.10:20880/com.example.Other"))
	assert.Equal(t, "no group, reference wants g1", reason)
}

// FuzzMatch: whatever is registered is used with an address to dial, or refused
// with a reason that can be shown.
func FuzzMatch(f *testing.F) {
	f.Add("dubbo://192.0.2.10:20880/com.example.DemoService?group=g1", "group=g1,g2&version=*")
	f.Add("tri://[::1]:1/x?ext.protocol=dubbo,&category=\x01", "protocol=,")
	f.Add("dubbo://a:1,b:2?disabled=true", "classifier=-")
	f.Fuzz(func(t *testing.T, provider, params string) {
		p, err := url.Parse(provider)
		if err != nil {
			return
		}
		r, err := url.Parse("consumer://h/" + iface + "?interface=" + iface + "&" + params)
		if err != nil {
			return
		}
		m := newMatcher(r)
		use, reason := m.match(p)
		if reason == "" {
			require.Equal(t, "dubbo", use.Protocol())
			require.NotEmpty(t, use.Host())
			require.NotZero(t, use.Port())
			require.NotEmpty(t, use.Path())
			return
		}
		require.Less(t, len(reason), 1500)
		require.True(t, utf8.ValidString(reason))
		require.NotContains(t, reason, "\n")
	})
}
