package gofer

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every text is read as java.util.Properties reads it; the vectors are Java's.
func TestPropertiesAsJava(t *testing.T) {
	data, err := os.ReadFile("testdata/config/properties.json")
	require.NoError(t, err)
	var rows []struct {
		Text  string
		Want  map[string]string
		Error bool
	}
	require.NoError(t, json.Unmarshal(data, &rows))
	require.Greater(t, len(rows), 400)
	for _, row := range rows {
		documents, found := parseProperties(row.Text)
		if row.Error {
			assert.NotEmpty(t, found.problems, "%q", row.Text)
			continue
		}
		assert.Empty(t, found.problems, "%q", row.Text)
		got := map[string]string{}
		for _, d := range documents {
			for _, p := range d {
				got[p.key] = p.value
			}
		}
		assert.Equal(t, row.Want, got, "%q", row.Text)
	}
}

func TestPropertiesLines(t *testing.T) {
	documents, found := parseProperties("\ufeff# note\r\na=1\r\n\r\nb=2,\\\r\n  3\rc=4\n\\u00=5\nd=\\ud83d\n#---\ne=6\n")
	require.Len(t, documents, 2)
	var lines []int
	for _, d := range documents {
		for _, p := range d {
			lines = append(lines, p.origin.Line)
		}
	}
	assert.Equal(t, []int{2, 4, 6, 10}, lines)
	require.Len(t, found.problems, 2)
	assert.Equal(t, 7, found.problems[0].Origin.Line)
	assert.Contains(t, found.problems[0].Reason, "four hexadecimal digits")
	assert.Equal(t, 8, found.problems[1].Origin.Line)
	assert.Contains(t, found.problems[1].Reason, "half a character")
}

var propertyEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`,
	" ", `\ `, "=", `\=`, ":", `\:`, "#", `\#`, "!", `\!`)

// What is escaped comes back, whatever it is.
func TestPropertiesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := property{key: rapid.String().Draw(t, "key"), value: rapid.String().Draw(t, "value")}
		text := "#\n" + propertyEscaper.Replace(want.key) + "=" + propertyEscaper.Replace(want.value) + "\n"
		documents, found := parseProperties(text)
		require.Empty(t, found.problems)
		require.Len(t, documents, 1)
		require.Len(t, documents[0], 1)
		assert.Equal(t, want.key, documents[0][0].key)
		assert.Equal(t, want.value, documents[0][0].value)
	})
}

func FuzzProperties(f *testing.F) {
	f.Add("dubbo.consumer.timeout=800\n")
	f.Add("a\\\n b \\u00e9=\\ud83d\\ude00\\\r\n c\n#---\n!x\n")
	f.Fuzz(func(t *testing.T, text string) {
		documents, found := parseProperties(text)
		lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
		size := 0
		for _, d := range documents {
			for _, p := range d {
				assert.True(t, p.origin.Line >= 1 && p.origin.Line <= lines, "line %d of %d", p.origin.Line, lines)
				size += len(p.key) + len(p.value)
			}
		}
		assert.LessOrEqual(t, size, len(text), "reading makes nothing larger")
		for _, p := range found.problems {
			assert.True(t, p.Origin.Line >= 1 && p.Origin.Line <= lines)
		}
	})
}
