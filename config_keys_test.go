package gofer

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofer-rpc/gofer/url"
)

// Every parameter of the table is found in every spelling.
func TestEveryParameterIsAnAttribute(t *testing.T) {
	beans := []struct {
		bean  bean
		scope url.Scope
	}{{referenceBean, url.ScopeReference}, {consumerBean, url.ScopeReference}, {registryBean, url.ScopeRegistry}}
	for _, b := range beans {
		for _, p := range url.Table() {
			if p.Scope&b.scope == 0 || p.Key == "listener" || b.bean.section == "consumer" && ownAttribute(p.Key) {
				continue
			}
			kebab := strings.ReplaceAll(p.Key, ".", "-")
			for _, spelling := range []string{p.Key, kebab, strings.ReplaceAll(kebab, "-", "_"), camel(kebab), strings.ToUpper(kebab)} {
				a, ok := b.bean.find(property{key: spelling}.path())
				require.True(t, ok, "%s in %s", spelling, b.bean.section)
				want := p.Key
				if spelling != p.Key && p.Key == "file.cache" { // the table has both; the first one it is
					want = "file-cache"
				}
				assert.Equal(t, want, a.key, "%s in %s", spelling, b.bean.section)
				assert.False(t, a.ignored)
			}
		}
	}
	_, ok := consumerBean.find([]string{"interface"})
	assert.False(t, ok, "the interface is a reference's own")
}

func camel(kebab string) string {
	upper := false
	return strings.Map(func(r rune) rune {
		if r == '-' {
			upper = true
			return -1
		}
		if upper {
			r, upper = unicode.ToUpper(r), false
		}
		return r
	}, kebab)
}

func TestPropertyPath(t *testing.T) {
	for key, want := range map[string][]string{
		"a.b.c": {"a", "b", "c"}, "a[b.c].d": {"a", "b.c", "d"}, "[a.b].c": {"a.b", "c"}, "a[0].b": {"a", "[0]", "b"}, "a[0][12]": {"a", "[0]", "[12]"},
		"a[": {"a", "["}, "a[]b": {"a", "[]b"}, "a..b": {"a", "", "b"}, "": nil, ".": {""}, "a.": {"a"}, "a]b.c": {"a]b", "c"}, "a[b": {"a", "[b"},
	} {
		assert.Equal(t, want, property{key: key}.path(), key)
	}
}

func TestInterfaceLength(t *testing.T) {
	for key, want := range map[string]int{
		"com.example.OrderService.timeout": 3, "com.example.Outer$Inner.find.timeout": 3, "orders.timeout": 0, "orders.find.timeout": 0,
		"OrderService.timeout": 0, "com.1x.OrderService": 0, "[lower.service].timeout": 1, "a.[0].B": 0, "": 0,
	} {
		assert.Equal(t, want, interfaceLength(property{key: key}.path()), key)
	}
}

func TestParameterList(t *testing.T) {
	for text, want := range map[string][][2]string{
		"[{a:b},{c:d}]": {{"a", "b"}, {"c", "d"}}, " [ {a : b c} , {d:} ] ": {{"a", "b c"}, {"d", ""}}, "[{a:b,c}]": {{"a", "b,c"}}, "[{a:b:c}{d:e}]": {{"a", "b:c"}, {"d", "e"}},
		"[]": nil,
	} {
		got, err := parameterList(text)
		require.NoError(t, err, text)
		assert.ElementsMatch(t, want, got, text)
	}
	for _, text := range []string{"", "a:b", "{a:b}", "[a:b]", "[{a}]", "[{a:b]", "[{:b}]", "[{a:b},c]", "[{a:b}"} {
		_, err := parameterList(text)
		assert.Error(t, err, text)
	}
}

// Lists in the three forms that files have.
func TestFoldLists(t *testing.T) {
	line := func(n int) Origin { return Origin{Line: n} }
	out, found := foldLists([]property{
		{"dubbo.consumer.filter[0]", "a", line(1)}, {"x", "y", line(2)}, {"dubbo.consumer.filter[1]", "b", line(3)},
		{"dubbo.m.methods[0].retries", "1", line(4)}, {"dubbo.m.methods[0].name", "find", line(5)}, {"dubbo.m.methods[1].timeout", "3", line(6)},
		{"dubbo.m.parameters[0].k", "v", line(7)}, {"other[0].x", "1", line(8)},
	})
	assert.Equal(t, []property{
		{"dubbo.consumer.filter", "a,b", line(1)}, {"x", "y", line(2)}, {"dubbo.m.methods.find.retries", "1", line(4)},
		{"dubbo.m.parameters.k", "v", line(7)}, {"other[0].x", "1", line(8)},
	}, out)
	assert.Equal(t, []string{"default: dubbo.m.methods[1].timeout: the method has no name: add dubbo.m.methods[1].name"}, texts(found.problems))
}
