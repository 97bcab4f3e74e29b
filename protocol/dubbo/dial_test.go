package dubbo

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol"
)

// Names under .localhost are this machine (RFC 6761): nobody is asked.
func TestLoopbackNamesNeedNoResolver(t *testing.T) {
	var asked atomic.Int32
	dial := dialLoopbackNames(&net.Dialer{Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			asked.Add(1)
			return nil, errRefused
		},
	}})
	p := listen(t, echo)
	_, port, err := net.SplitHostPort(p.address)
	require.NoError(t, err)
	for _, host := range []string{"localhost.", "LOCALHOST.", "shop.localhost", "shop.localhost."} {
		nc, err := dial(t.Context(), "tcp", net.JoinHostPort(host, port))
		if assert.NoError(t, err, host) {
			_ = nc.Close()
		}
	}
	assert.Zero(t, asked.Load())
	for _, host := range []string{"notlocalhost.", "localhost.example.com", "xlocalhost"} {
		assert.False(t, isLoopbackName(host), host)
	}
	_, err = dial(t.Context(), "tcp", "localhost.:1")
	assert.Error(t, err)

	d := newProtocol(t)
	e := refer(t, d, "localhost.:"+port)
	v, err := invoke(t.Context(), e, invocation("x"))
	require.NoError(t, err)
	assert.Equal(t, "x", v)
}

func TestDialerGetsTheProvidersAddress(t *testing.T) {
	p := listen(t, echo)
	type dialled struct{ network, address string }
	got := make(chan dialled, 1)
	d := newProtocol(t, WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		got <- dialled{network, address}
		return (&net.Dialer{}).DialContext(ctx, network, p.address)
	}), WithDialer(nil), WithLogger(nil))
	for _, address := range []string{"provider.example:20880", "[2001:db8::7]:20880"} {
		e := refer(t, d, address)
		_, err := invoke(t.Context(), e, invocation("x"))
		require.NoError(t, err)
		assert.Equal(t, dialled{"tcp", address}, <-got)
	}
}

// certificate makes a server certificate for the name, and who trusts it.
func certificate(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestTLS(t *testing.T) {
	cert, pool := certificate(t, "provider.localhost")
	p := listen(t, echo)
	_, port, err := net.SplitHostPort(p.address)
	require.NoError(t, err)

	secure := &peer{t: t, handle: echo, tls: &tls.Config{Certificates: []tls.Certificate{cert}}}
	secure.listen("127.0.0.1:0")
	t.Cleanup(secure.stop)
	_, securePort, err := net.SplitHostPort(secure.address)
	require.NoError(t, err)

	d := newProtocol(t, WithTLS(&tls.Config{RootCAs: pool}))
	e := refer(t, d, "provider.localhost:"+securePort, "ssl-enabled", "true")
	s := strings.Repeat("x", 3*bigFrame)
	v, err := invoke(t.Context(), e, invocation(s))
	require.NoError(t, err)
	assert.Equal(t, s, v)

	// The certificate is for another name.
	other := refer(t, d, "other.localhost:"+securePort, "ssl-enabled", "true")
	_, err = invoke(t.Context(), other, invocation("x"))
	assert.ErrorIs(t, err, protocol.ErrNetwork)
	assert.ErrorContains(t, err, "TLS")
	assert.ErrorContains(t, err, "provider.localhost")

	// TLS is for those who ask for it.
	plain := refer(t, d, "provider.localhost:"+port)
	_, err = invoke(t.Context(), plain, invocation("x"))
	assert.NoError(t, err)
}
