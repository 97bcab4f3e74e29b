package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func output(t *testing.T, form string, defaults bool) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, run(&b, form, ".", defaults))
	return b.String()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All forms print the same values; only where they come from differs.
func TestFormsAgree(t *testing.T) {
	row := regexp.MustCompile(`^  (\S+) +(\S+) `)
	values := map[string][]string{}
	for form, place := range map[string]string{"yaml": "application.yml:17", "properties": "dubbo.properties:14", "code": "code"} {
		text := output(t, form, true)
		assert.NotContains(t, text, "warning")
		assert.Regexp(t, `(?m)^  timeout +800 +`+place, text)
		assert.Regexp(t, `(?m)^  cluster +failover +default$`, text)
		for line := range strings.Lines(text) {
			if m := row.FindStringSubmatch(line); m != nil && m[1] != "address" { // in code it has the session in it
				values[form] = append(values[form], m[1]+"="+m[2])
			}
		}
		slices.Sort(values[form])
	}
	for _, w := range []string{"application=shop-web", "session=20s", "find.retries=0", "group=members", "warmup=60000", "warmup=600000"} {
		assert.Contains(t, values["yaml"], w)
	}
	assert.Equal(t, values["yaml"], values["properties"])
	assert.Equal(t, values["yaml"], values["code"])
}

func TestEnvironmentOverrides(t *testing.T) {
	t.Setenv("DUBBO_REFERENCES_ORDERS_TIMEOUT", "500")
	t.Setenv("ZK_HOST", "127.0.0.2")
	text := output(t, "yaml", false)
	assert.Regexp(t, `(?m)^  timeout +500 +\$DUBBO_REFERENCES_ORDERS_TIMEOUT +not 800 \(application\.yml:17\) +not 3s \(application\.yml:10\)$`, text)
	assert.Contains(t, text, "zookeeper://127.0.0.2:2181")
	assert.Contains(t, text, "-defaults shows them")
}

func TestUnknownForm(t *testing.T) {
	assert.ErrorContains(t, run(&strings.Builder{}, "xml", ".", false), `unknown form "xml": yaml, properties or code`)
	assert.ErrorContains(t, run(&strings.Builder{}, "yaml", "nowhere", false), "nowhere/application.yml: no such file")
}
