package zktest

import (
	"crypto/sha1"
	"encoding/base64"
	"slices"
	"strings"
)

// ACL grants permissions: 1 read, 2 write, 4 create, 8 delete, 16 admin.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

const (
	permRead = 1 << iota
	permWrite
	permCreate
	permDelete
	permAdmin
	permAll = 1<<iota - 1
)

var openACL = []ACL{{permAll, "world", "anyone"}}

// digest is the id of a user: what ZooKeeper keeps instead of a password.
func digest(userPassword string) string {
	h := sha1.Sum([]byte(userPassword))
	user, _, _ := strings.Cut(userPassword, ":")
	return user + ":" + base64.StdEncoding.EncodeToString(h[:])
}

// allowed reports whether the connection's ids have one of the permissions.
func (c *conn) allowed(acl []ACL, perm int32) bool {
	return slices.ContainsFunc(acl, func(a ACL) bool {
		return a.Perms&perm != 0 &&
			(a.Scheme == "world" && a.ID == "anyone" || a.Scheme == "digest" && slices.Contains(c.ids, a.ID))
	})
}

// resolve puts the connection's ids in the place of scheme "auth".
func (c *conn) resolve(in []ACL) ([]ACL, Code) {
	var out []ACL
	for _, a := range in {
		switch a.Scheme {
		case "world", "digest", "ip":
			out = append(out, a)
		case "auth":
			if c == nil || len(c.ids) == 0 {
				return nil, InvalidACL
			}
			for _, id := range c.ids {
				out = append(out, ACL{a.Perms, "digest", id})
			}
		default:
			return nil, InvalidACL
		}
	}
	if len(out) == 0 {
		return nil, InvalidACL
	}
	return out, OK
}

// authenticate adds an id to the connection.
func (c *conn) authenticate(scheme, credentials string) Code {
	if scheme != "digest" || !strings.Contains(credentials, ":") {
		return AuthFailed
	}
	if id := digest(credentials); !slices.Contains(c.ids, id) {
		c.ids = append(c.ids, id)
	}
	return OK
}
