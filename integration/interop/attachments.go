package interop

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofer-rpc/gofer/protocol/dubbo/dubbotest"
)

// hidden are the attachments that a provider keeps from its methods; those behind the
// gap since 2.7.
var hidden = []string{
	"path", "group", "version", "dubbo", "token", "timeout", "async",
	"interface", "dubbo.tag",
}

const hiddenIn26 = 7

const headerLen = 16 // of a frame

// attachments answers the attachments of the request that a method gets to see. One is
// not from the consumer: the size of the request's frame.
func (s *service) attachments(ctx context.Context, reply map[string]string) map[string]string {
	for key, value := range reply {
		dubbotest.Attach(ctx, key, value)
	}
	call := dubbotest.FromContext(ctx)
	seen := map[string]string{"input": strconv.Itoa(headerLen + call.Length)}
	keep := hidden
	if s.profile == dubbotest.Dubbo26 {
		keep = hidden[:hiddenIn26]
	}
	for key := range call.Attachments {
		if !slices.Contains(keep, key) {
			seen[key] = call.Attachment(key)
		}
	}
	return seen
}
