package url

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a Dubbo 2.7 provider registers, and what asks for it.
const (
	benchProvider = "dubbo://10.1.0.8:20880/com.example.OrderService?anyhost=true&application=order-svc&deprecated=false" +
		"&dubbo=2.0.2&dubbo.tag=gray&dynamic=true&executes=200&find.timeout=300&generic=false&group=g1" +
		"&interface=com.example.OrderService&metadata-type=remote&methods=create,find,findAll,update,delete&pid=92" +
		"&release=2.7.23&revision=1.4.0&service.name=ServiceBean:g1/com.example.OrderService:1.0.0&side=provider" +
		"&timeout=3000&timestamp=1795980000456&version=1.0.0&warmup=120000&weight=200"
	benchReference = "consumer://10.1.0.99/com.example.OrderService?actives=10&application=shop-web&category=consumers" +
		"&check=false&dubbo=2.0.2&group=g1&interface=com.example.OrderService&loadbalance=leastactive&pid=7" +
		"&retries=1&side=consumer&sticky=false&timeout=800&timestamp=1795990000000&version=1.0.0"
)

func parsed(t testing.TB, s string) URL {
	t.Helper()
	u, err := Parse(s)
	require.NoError(t, err)
	return u
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Parse(benchProvider)
	}
}

func BenchmarkParseEncoded(b *testing.B) {
	name := parsed(b, benchProvider).Encode()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = ParseEncoded(name)
	}
}

func BenchmarkEncode(b *testing.B) {
	u := parsed(b, benchProvider)
	b.ReportAllocs()
	for b.Loop() {
		_ = u.Encode()
	}
}

func BenchmarkMethodParam(b *testing.B) {
	u := parsed(b, benchProvider)
	for _, method := range []string{"find", "create"} {
		b.Run(method, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = u.MethodParam(method, "timeout")
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	p, r := parsed(b, benchProvider), parsed(b, benchReference)
	b.ReportAllocs()
	for b.Loop() {
		_ = Merge(p, r)
	}
}

func BenchmarkCompileMethod(b *testing.B) {
	u := Merge(parsed(b, benchProvider), parsed(b, benchReference))
	for _, method := range []string{"find", "create"} {
		b.Run(method, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = CompileMethod(u, method)
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	u := parsed(b, benchProvider)
	b.ReportAllocs()
	for b.Loop() {
		_ = Validate(u)
	}
}

func BenchmarkEqual(b *testing.B) {
	u, v := parsed(b, benchProvider), parsed(b, benchProvider)
	b.ReportAllocs()
	for b.Loop() {
		_ = u.Equal(v)
	}
}
