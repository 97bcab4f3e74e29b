package hessian2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/protocol/dubbo/hessian2"
)

func TestJavaName(t *testing.T) {
	for field, want := range map[string]string{
		"ID": "id", "URL": "url", "UserID": "userId", "HTTPServer": "httpServer", "UserIDs": "userIds", "IDs": "ids",
		"IDsOfUsers": "idsOfUsers", "PriceCents": "priceCents", "Name": "name", "A": "a", "XAxis": "xAxis", "ABTest": "abTest",
		"Id": "id", "SHA256Sum": "sha256Sum", "V2API": "v2Api", "ServerHTTPPort": "serverHttpPort", "PointX": "pointX",
		"User_ID": "user_ID", "Über": "über", "Is": "is", "OS": "os",
		"SerialVersionUID": "serialVersionUID",
	} {
		assert.Equal(t, want, hessian2.JavaName(field), field)
	}
}

type account struct {
	ID      int64
	UserID  int64
	HomeURL string
	Tagged  string `hessian:"tAG"`
}

func (account) JavaClassName() string { return "com.example.Account" }

type account2 struct{ Id, ID, UserId int64 }

func (account2) JavaClassName() string { return "com.example.Account2" }

// loose has the fields of account as other sides may spell them.
type loose struct {
	A int64  `hessian:"iD"`
	B int64  `hessian:"userid"`
	C string `hessian:"HomeUrl"`
	D string `hessian:"tAG"`
}

func (loose) JavaClassName() string { return "com.example.Account" }

// Fields go out as Java spells them, and are found however they are spelled.
func TestInitialismsOfFields(t *testing.T) {
	b, err := hessian2.Append(nil, account{1, 2, "u", "t"})
	require.NoError(t, err)
	for _, name := range []string{"\x02id", "\x06userId", "\x07homeUrl", "\x03tAG"} {
		assert.Contains(t, string(b), name)
	}
	var got account
	_, err = hessian2.DecodeInto(b, &got)
	require.NoError(t, err)
	assert.Equal(t, account{1, 2, "u", "t"}, got)

	b, err = hessian2.Append(nil, loose{1, 2, "u", "t"})
	require.NoError(t, err)
	got = account{}
	_, err = hessian2.DecodeInto(b, &got)
	require.NoError(t, err)
	assert.Equal(t, account{1, 2, "u", "t"}, got)
}

// Two names that differ in an initialism only stay two.
func TestInitialismBesideItsWord(t *testing.T) {
	want := account2{Id: 1, ID: 2, UserId: 3}
	b, err := hessian2.Append(nil, want)
	require.NoError(t, err)
	assert.Contains(t, string(b), "\x02id\x02iD")
	var got account2
	_, err = hessian2.DecodeInto(b, &got)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}
