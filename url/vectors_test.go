package url

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wanted is one expected URL of testdata/url.json.
type wanted struct {
	Error                                    string
	Protocol, Username, Password, Host       string
	Port                                     int
	Path                                     string
	Parameters                               map[string]string
	Full, String, Identity                   string
	ServiceKey, ColonKey, ProtocolServiceKey string
	BackupAddress                            string
	Method                                   map[string]string
}

type vectors struct {
	Plain, Znode, ZnodeRaw []struct {
		In, Plain string
		Want      wanted
	}
	Merge []struct {
		Provider string
		Consumer map[string]string
		Want     string
		Method   map[string]string
	}
	Component struct {
		Encode []struct{ In, Java string }
		Decode []struct {
			In   string
			Want json.RawMessage
		}
	}
	Integers, Booleans []struct {
		In    string
		Want  json.RawMessage
		Error bool
	}
	Lists []struct {
		In   string
		Want []string
	}
	Equality []struct {
		A, B  string
		Equal bool
	}
	Layered struct {
		Provider, Consumer string
		Method             map[string]string
	}
}

func loadVectors(t testing.TB) *vectors {
	text, err := os.ReadFile("testdata/url.json")
	require.NoError(t, err)
	v := new(vectors)
	require.NoError(t, json.Unmarshal(text, v))
	return v
}

func (w *wanted) check(t *testing.T, u URL, err error) {
	if w.Error != "" {
		var parse *ParseError
		require.ErrorAs(t, err, &parse, "want an error, Java says %s", w.Error)
		assert.NotEmpty(t, parse.Reason)
		return
	}
	require.NoError(t, err)
	assert.Equal(t, w.Protocol, u.Protocol(), "protocol")
	assert.Equal(t, w.Username, u.Username(), "user name")
	assert.Equal(t, w.Password, u.Password(), "password")
	assert.Equal(t, w.Host, u.Host(), "host")
	assert.Equal(t, w.Port, u.Port(), "port")
	assert.Equal(t, w.Path, u.Path(), "path")
	params := map[string]string{}
	for k, v := range u.Params() {
		params[k] = v
	}
	assert.Equal(t, w.Parameters, params, "parameters")
	assert.Equal(t, w.Full, u.Full(), "Full")
	text := w.String
	if text == "" {
		text = w.Full
	}
	assert.Equal(t, text, u.Text(), "Text")
	assert.Equal(t, w.Identity, u.Identity(), "Identity")
	assert.Equal(t, w.ServiceKey, u.ServiceKey(), "ServiceKey")
	assert.Equal(t, w.ColonKey, u.ColonKey(), "ColonKey")
	assert.Equal(t, w.ProtocolServiceKey, u.ProtocolServiceKey(), "ProtocolServiceKey")
	if w.BackupAddress != "" {
		assert.Equal(t, w.BackupAddress, strings.Join(u.Addresses(), ","), "Addresses")
	}
	checkMethods(t, w.Method, u)
}

func checkMethods(t *testing.T, want map[string]string, u URL) {
	for mk, v := range want {
		method, key, _ := strings.Cut(mk, "/")
		assert.Equal(t, v, u.MethodParam(method, key), "method parameter %s", mk)
	}
}

func TestVectorsPlain(t *testing.T) {
	rows := loadVectors(t).Plain
	require.Len(t, rows, 75)
	for _, r := range rows {
		t.Run(r.In, func(t *testing.T) {
			u, err := Parse(r.In)
			r.Want.check(t, u, err)
		})
	}
}

func TestVectorsZnode(t *testing.T) {
	rows := loadVectors(t).Znode
	require.Len(t, rows, 20)
	for _, r := range rows {
		t.Run(r.Plain, func(t *testing.T) {
			u, err := ParseEncoded(r.In)
			r.Want.check(t, u, err)
			assert.Equal(t, r.In, Escape(r.Plain), "escaping")
			again, err := ParseEncoded(u.Encode())
			require.NoError(t, err)
			assert.True(t, u.Equal(again), "round trip gives %s", again)
		})
	}
}

func TestVectorsZnodeRaw(t *testing.T) {
	rows := loadVectors(t).ZnodeRaw
	require.Len(t, rows, 12)
	for _, r := range rows {
		t.Run(r.In, func(t *testing.T) {
			u, err := ParseEncoded(r.In)
			r.Want.check(t, u, err)
		})
	}
}

func TestVectorsMerge(t *testing.T) {
	rows := loadVectors(t).Merge
	require.Len(t, rows, 5)
	for _, r := range rows {
		t.Run(r.Provider, func(t *testing.T) {
			p, err := Parse(r.Provider)
			require.NoError(t, err)
			u := Merge(p, New("consumer", "192.0.2.99", 0, "a.B", r.Consumer))
			assert.Equal(t, r.Want, u.Full())
			checkMethods(t, r.Method, u)
		})
	}
}

// The layered reads of Dubbo 3.3 agree with the merge wherever neither loses what
// the other keeps: methods, and empty consumer values that count as absent.
func TestVectorsLayered(t *testing.T) {
	l := loadVectors(t).Layered
	require.NotEmpty(t, l.Method)
	p, err := Parse(l.Provider)
	require.NoError(t, err)
	r, err := Parse(l.Consumer)
	require.NoError(t, err)
	u := Merge(p, r)
	checkMethods(t, l.Method, u)
	assert.Equal(t, "leastactive", u.Param("loadbalance"))
	assert.Equal(t, "pg", u.Param("group"))
	assert.Equal(t, "", u.Param("version"))
}

func TestVectorsComponent(t *testing.T) {
	c := loadVectors(t).Component
	require.NotEmpty(t, c.Encode)
	require.Len(t, c.Decode, 5)
	for _, r := range c.Encode {
		assert.Equal(t, r.Java, Escape(r.In))
		back, err := Unescape(r.Java)
		require.NoError(t, err)
		assert.Equal(t, r.In, back)
	}
	for _, r := range c.Decode {
		var want string
		got, err := Unescape(r.In)
		if json.Unmarshal(r.Want, &want) != nil {
			assert.Error(t, err, r.In)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestVectorsIntegers(t *testing.T) {
	rows := loadVectors(t).Integers
	require.Len(t, rows, 10)
	for _, r := range rows {
		t.Run(r.In, func(t *testing.T) {
			var want int
			got, err := Int(r.In)
			if r.Error || json.Unmarshal(r.Want, &want) != nil { // "default": absent
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestVectorsBooleans(t *testing.T) {
	rows := loadVectors(t).Booleans
	require.Len(t, rows, 7)
	for _, r := range rows {
		var want bool // "default" stays false
		_ = json.Unmarshal(r.Want, &want)
		assert.Equal(t, want, Bool(r.In), "%q", r.In)
	}
}

func TestVectorsLists(t *testing.T) {
	rows := loadVectors(t).Lists
	require.NotEmpty(t, rows)
	for _, r := range rows {
		assert.Equal(t, r.Want, SplitList(r.In))
	}
}

func TestVectorsEquality(t *testing.T) {
	rows := loadVectors(t).Equality
	require.Len(t, rows, 3)
	for _, r := range rows {
		a, err := Parse(r.A)
		require.NoError(t, err)
		b, err := Parse(r.B)
		require.NoError(t, err)
		assert.Equal(t, r.Equal, a.Equal(b), "%s, %s", r.A, r.B)
		assert.Equal(t, r.Equal, b.Equal(a))
	}
}
