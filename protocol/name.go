package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofer-rpc/gofer/url"
)

// UnknownName is the error for a name that is in no map of extensions: it lists
// the known ones and the one that was probably meant. kind is what is named: a
// load balancer, a filter.
func UnknownName[F any](kind, name string, known map[string]F) error {
	names := slices.Sorted(maps.Keys(known))
	text := fmt.Sprintf("unknown %s %q", kind, name)
	if near := url.NearestOf(name, names); near != "" {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	return fmt.Errorf("%s (known: %s)", text, strings.Join(names, ", "))
}
