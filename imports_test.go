package gofer_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/gofer-rpc/gofer"

// allowed is who may import whom, without tests: packages of the module by their
// path below it, others by module prefix. What imports nothing of ours is at the
// bottom. A package that is not listed fails the test, so a new one is a decision.
var allowed = map[string]struct{ ours, others []string }{
	"url":                           {},
	"protocol":                      {ours: []string{"url"}},
	"protocol/dubbo/internal/frame": {},
	"protocol/dubbo/hessian2":       {ours: []string{"url", "protocol"}, others: []string{hessian, gost}},
	"protocol/dubbo":                {ours: []string{"url", "protocol", "protocol/dubbo/hessian2"}, others: []string{zap}},
	"protocol/dubbo/dubbotest":      {ours: []string{"url", "protocol", "protocol/dubbo", "protocol/dubbo/hessian2", "protocol/dubbo/internal/frame", "registry", "registry/zookeeper"}},
	"loadbalance":                   {ours: []string{"url", "protocol"}},
	"loadbalance/sim/cmd/quality":   {ours: []string{"protocol", "loadbalance/sim"}},
	"loadbalance/sim":               {ours: []string{"url", "protocol", "loadbalance", "cluster"}, others: []string{yaml}},
	"filter":                        {ours: []string{"url", "protocol"}, others: []string{zap}},
	"registry":                      {ours: []string{"url", "protocol"}, others: []string{zap}},
	"registry/zookeeper":            {ours: []string{"url", "protocol", "registry"}, others: []string{zap, zk}},
	"registry/zookeeper/zktest":     {},
	"cluster":                       {ours: []string{"url", "protocol", "loadbalance"}, others: []string{zap}},
	"": {
		ours:   []string{"url", "protocol", "protocol/dubbo", "protocol/dubbo/hessian2", "loadbalance", "filter", "registry", "registry/zookeeper", "cluster"},
		others: []string{zap, yaml},
	},
}

const (
	hessian = "github.com/apache/dubbo-go-hessian2"
	gost    = "github.com/dubbogo/gost" // the library's BigDecimal and BigInteger
	zap     = "go.uber.org/zap"
	yaml    = "go.yaml.in/yaml"
	zk      = "github.com/go-zookeeper/zk"
)

// free are folders whose packages may import anything.
var free = []string{"examples/", "integration", "cmd/"}

func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		seen++
		checkImports(t, p.ImportPath, p.Imports)
	}
	assert.Greater(t, seen, 5, "packages listed")
}

func checkImports(t *testing.T, path string, imports []string) {
	name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	for _, f := range free {
		if strings.HasPrefix(name, f) {
			return
		}
	}
	rule, ok := allowed[name]
	if !assert.True(t, ok, "package %s is not in the import table: decide who may import whom", path) {
		return
	}
	for _, i := range imports {
		if ours, ok := strings.CutPrefix(i, module+"/"); ok {
			// An internal package is for the whole subtree it lies in; Go sees to that.
			nested := strings.Contains(ours, "/internal/")
			assert.True(t, nested || slices.Contains(rule.ours, ours), "%s must not import %s", path, i)
			continue
		}
		if i == module || !strings.Contains(strings.SplitN(i, "/", 2)[0], ".") {
			assert.NotEqual(t, module, i, "%s must not import the front door", path)
			continue // the standard library
		}
		assert.True(t, slices.ContainsFunc(rule.others, func(o string) bool { return i == o || strings.HasPrefix(i, o+"/") }),
			"%s must not import %s", path, i)
	}
}
