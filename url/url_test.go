package url

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestZeroURL(t *testing.T) {
	var u URL
	assert.Empty(t, u.Full()+u.Text()+u.String()+u.Identity()+u.Encode()+u.Address()+u.Host()+u.Path()+u.Protocol())
	assert.Empty(t, u.ServiceKey()+u.PathKey()+u.ColonKey()+u.CompatibleColonKey()+u.DisplayKey()+u.ExporterKey()+u.ProtocolServiceKey())
	assert.Zero(t, u.Port())
	assert.Empty(t, u.Param("timeout"))
	assert.Empty(t, u.MethodParam("find", "timeout"))
	assert.Empty(t, u.Addresses())
	assert.Empty(t, u.Methods())
	assert.Empty(t, Validate(u))
	assert.Empty(t, Warnings(u))
	assert.True(t, u.Equal(URL{}))
	assert.True(t, u.Equal(New("", "", 0, "", nil)))
	assert.Equal(t, "dubbo://192.0.2.1:20880/a.B?x=1",
		u.WithProtocol("dubbo").WithAddress("192.0.2.1", 20880).WithPath("/a.B").With("x", "1").Full())
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	const text = "dubbo://192.0.2.1:20880/a.B?a=1&b=2&c=3"
	u := parsed(t, text)
	for _, tc := range []struct {
		got  URL
		want string
	}{
		{u.With("b", "x"), "dubbo://192.0.2.1:20880/a.B?a=1&b=x&c=3"},
		{u.With("0", "x", "d", "y"), "dubbo://192.0.2.1:20880/a.B?0=x&a=1&b=2&c=3&d=y"},
		{u.With("b", "x", "b", "y"), "dubbo://192.0.2.1:20880/a.B?a=1&b=y&c=3"},
		{u.With("", "x"), text},
		{u.With("d"), "dubbo://192.0.2.1:20880/a.B?a=1&b=2&c=3&d="},
		{u.With(), text},
		{u.Without("a", "c", "nosuch"), "dubbo://192.0.2.1:20880/a.B?b=2"},
		{u.Without(), text},
		{u.WithAddress("192.0.2.2", -1), "dubbo://192.0.2.2/a.B?a=1&b=2&c=3"},
		{u.WithUserInfo("me", "pw"), "dubbo://me:pw@192.0.2.1:20880/a.B?a=1&b=2&c=3"},
		{u.WithProtocol("tri"), "tri://192.0.2.1:20880/a.B?a=1&b=2&c=3"},
		{u.WithPath("//c.D"), "dubbo://192.0.2.1:20880/c.D?a=1&b=2&c=3"},
	} {
		assert.Equal(t, tc.want, tc.got.Full())
		assert.Equal(t, text, u.Full())
	}
}

func TestNewCopiesItsMap(t *testing.T) {
	params := map[string]string{"b": "2", "a": "1", "": "x", "default.timeout": "7"}
	u := New("dubbo", "192.0.2.1", -5, "/a.B", params)
	params["a"] = "changed"
	assert.Equal(t, "dubbo://192.0.2.1/a.B?a=1&b=2&default.timeout=7&timeout=7", u.Full())
	assert.Equal(t, map[string]string{"a": "1", "b": "2", "default.timeout": "7", "timeout": "7"}, maps.Collect(u.Params()))
}

func TestDefaultOfADefault(t *testing.T) {
	const want = "h?default.default.x=1&default.x=1&x=1"
	assert.Equal(t, want, parsed(t, "h?default.default.x=1").Full())
	assert.Equal(t, want, parsed(t, want).Full())
	assert.Equal(t, "h?default.default.x=1&default.x=2&x=2", parsed(t, "h?default.x=2&default.default.x=1").Full())
	assert.Equal(t, "h?default.=2&default. y=1&y=1", parsed(t, "h?default. y=1&default.=2").Full())
}

func TestParamsCanBeLeftEarly(t *testing.T) {
	var keys []string
	for k := range parsed(t, "h?c=3&a=1&b=2").Params() {
		keys = append(keys, k)
		if len(keys) == 2 {
			break
		}
	}
	assert.Equal(t, []string{"a", "b"}, keys)
}

func TestEmptyValueIsAbsent(t *testing.T) {
	u := parsed(t, "h?a=&m.a=&b=1")
	assert.Equal(t, "def", u.ParamOr("a", "def"))
	assert.Equal(t, "def", u.ParamOr("nosuch", "def"))
	assert.Equal(t, "1", u.ParamOr("b", "def"))
	assert.Equal(t, "1", u.With("m.b", "").MethodParam("m", "b"))
}

func TestEqual(t *testing.T) {
	u := parsed(t, "dubbo://u:p@h:1/x?a=1&timestamp=5")
	for _, other := range []URL{
		u.WithProtocol("tri"), u.WithUserInfo("v", "p"), u.WithUserInfo("u", "q"), u.WithAddress("g", 1), u.WithAddress("h", 2),
		u.WithPath("y"), u.With("a", "2"), u.Without("a"), u.Without("timestamp"), u.Without("a").With("b", "1"), {},
	} {
		assert.False(t, u.Equal(other), other)
		assert.False(t, other.Equal(u), other)
	}
	assert.True(t, u.Equal(u.With("timestamp", "6")))
	assert.True(t, u.Equal(parsed(t, u.Full())))
}

func TestKeys(t *testing.T) {
	u := parsed(t, "dubbo://h:20880/ctx/a.B?interface=a.B&group=g&version=1.0")
	assert.Equal(t, "a.B", u.Interface())
	assert.Equal(t, "g/a.B:1.0", u.ServiceKey())
	assert.Equal(t, "g/ctx/a.B:1.0", u.PathKey())
	assert.Equal(t, "a.B:1.0", u.DisplayKey())
	assert.Equal(t, "a.B:1.0:g", u.ColonKey())
	assert.Equal(t, "a.B:1.0:g", u.CompatibleColonKey())
	assert.Equal(t, "a.B:g", u.Without("version").CompatibleColonKey())
	assert.Equal(t, "a.B::g", u.Without("version").ColonKey())
	assert.Equal(t, "g/ctx/a.B:1.0:20880", u.ExporterKey())
	assert.Equal(t, "g/ctx/a.B:20880", u.With("version", "0.0.0").ExporterKey())
	assert.Equal(t, "g/ctx/a.B:20880", u.With("version", "*").ExporterKey())
	assert.Equal(t, "g/a.B:0.0.0", u.With("version", "0.0.0").ServiceKey(), "Java strips it nowhere else")
	assert.Equal(t, "g/a.B:1.0:dubbo", u.ProtocolServiceKey())
	assert.Equal(t, "g/a.B:1.0", u.WithProtocol("consumer").ProtocolServiceKey())
}

func TestSplitList(t *testing.T) {
	assert.Nil(t, SplitList(""))
	assert.Nil(t, SplitList(" , ,"))
	assert.Equal(t, []string{"a"}, SplitList("a"))
	assert.Equal(t, []string{"a", "b "}, SplitList(",a\t,,\n b "))
}

func TestLong(t *testing.T) {
	n, err := Long("1795980000456")
	require.NoError(t, err)
	assert.EqualValues(t, 1795980000456, n)
	_, err = Long("9223372036854775808")
	assert.ErrorContains(t, err, "64")
	_, err = Long("")
	assert.Error(t, err)
}
