package registry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// TestB172Direct: direct addresses are served like registered providers, with the
// reference's parameters.
func TestB172Direct(t *testing.T) {
	ref := "group=g1&version=1.0.0&timeout=3000"
	d, w := newDirectory(t, ref)
	s := NewStatic(parse(t, "dubbo://127.0.0.1:20881"), parse(t, "dubbo://127.0.0.1:20880?timeout=5&weight=7&version=1.0.0"))
	sub, err := s.Subscribe(reference(t, ref), d)
	require.NoError(t, err)
	defer sub.Close()
	require.NoError(t, sub.Ready(t.Context()))
	require.Equal(t, []string{"127.0.0.1:20880", "127.0.0.1:20881"}, addresses(d.List()))
	assert.Len(t, w.open(), 2)
	for i, weight := range []int{7, 100} {
		n := node(t, d, i)
		u := n.URL()
		assert.Equal(t, iface, u.Path())
		assert.Equal(t, iface, u.Interface())
		assert.Equal(t, "g1", u.Param("group"))
		assert.Equal(t, "1.0.0", u.Param("version"))
		assert.Equal(t, 3*time.Second, n.Method(0).Timeout)
		assert.Equal(t, weight, n.Method(0).Weight)
	}
	f := d.List().Funnel
	assert.Equal(t, protocol.Funnel{Source: "direct", Registered: 2, Enabled: 2}, f)
	assert.Equal(t, "direct", s.State().Address)
	assert.True(t, s.State().Connected)
	require.NoError(t, s.Register(reference(t, "")))
	require.NoError(t, s.Unregister(reference(t, "")))
	require.NoError(t, s.Close())
}

func TestDirectWildcards(t *testing.T) {
	d, _ := newDirectory(t, "group=*&version=*")
	_, err := NewStatic(parse(t, "dubbo://127.0.0.1:20880/ctx/"+iface+"?group=g2")).Subscribe(reference(t, "group=*&version=*"), d)
	require.NoError(t, err)
	u := node(t, d, 0).URL()
	assert.Equal(t, "g2", u.Param("group"))
	assert.Equal(t, "", u.Param("version"))
	assert.Equal(t, "ctx/"+iface, u.Path())
}

func TestDirectErrors(t *testing.T) {
	tests := []struct{ address, reason string }{
		{"dubbo://127.0.0.1/" + iface, "no port"},
		{"tri://127.0.0.1:50051/" + iface, "protocol tri is not spoken"},
		{"dubbo://127.0.0.1:20880?version=2.0.0", "version 2.0.0, reference wants 1.0.0"},
		{"dubbo://127.0.0.1:20880?interface=com.example.Other", "interface com.example.Other, reference wants " + iface},
		{"dubbo://127.0.0.1:20880?disabled=true", "disabled=true"},
	}
	for _, tt := range tests {
		d, _ := newDirectory(t, "version=1.0.0")
		_, err := NewStatic(parse(t, "dubbo://127.0.0.1:20881"), parse(t, tt.address).With("token", "geheim")).Subscribe(reference(t, "version=1.0.0"), d)
		require.ErrorContains(t, err, tt.reason)
		assert.ErrorContains(t, err, "127.0.0.1")
		assert.NotContains(t, err.Error(), "geheim")
		assert.Empty(t, d.List().Candidates.Nodes(), "all or nothing")
	}
}
