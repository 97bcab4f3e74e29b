package dubbotest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/gofer-rpc/gofer"
	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const orders = "com.example.OrderService"

// order is a POJO of the tests.
type order struct {
	ID   int64
	Name string
}

func (order) JavaClassName() string { return "com.example.Order" }

// newClient makes a client that is closed at the end of the test.
func newClient(t testing.TB, opts ...gofer.Option) *gofer.Client {
	t.Helper()
	c, err := gofer.New(append([]gofer.Option{gofer.WithApplication("shop-web")}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// refer makes a reference to the provider.
func refer(t testing.TB, p *dubbotest.Provider, params ...string) *gofer.Reference {
	t.Helper()
	c := newClient(t, gofer.WithDialer(p.Dial))
	r, err := c.Refer(t.Context(), p.URL(params...))
	require.NoError(t, err)
	return r
}

func TestThreeLines(t *testing.T) {
	p := dubbotest.Start(t, orders)
	p.Handle("find(long)", func(id int64) (*order, error) { return &order{ID: id, Name: "tea"}, nil })
	r := refer(t, p, "timeout=800")

	got, err := gofer.Call[*order](t.Context(), r, "find(long)", int64(42))
	require.NoError(t, err)
	assert.Equal(t, &order{42, "tea"}, got)
}
