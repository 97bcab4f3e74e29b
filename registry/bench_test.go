package registry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// many returns the entries of n providers, and the directory that has taken them.
func many(t testing.TB, n int, params string) (*Directory, *wire, []*Entry) {
	d, w := newDirectory(t, params)
	r := newRegistered(t)
	var raws []string
	for i := range n {
		raws = append(raws, provided(fmt.Sprintf("10.%d.%d.%d:20880", i>>16, i>>8&255, i&255),
			"anyhost=true&application=mall&deprecated=false&dubbo=2.0.2&dynamic=true&generic=false&interface="+iface+
				"&metadata-type=remote&methods=find,create,update,remove&pid=4928&release=2.7.23&revision=1.0.0&side=provider&timestamp=1795992331899&version=1.0.0"))
	}
	entries := r.list(raws...)
	d.Notify(Snapshot{Providers: entries, Read: time.Now()})
	require.Equal(t, n, d.List().Funnel.Registered)
	return d, w, entries
}

// BenchmarkNotify: one provider of many changes. "parameters" keeps the identity,
// "member" takes one out and in again, "other" changes one the reference refuses.
func BenchmarkNotify(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		for _, kind := range []string{"parameters", "member", "other", "nothing"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				version := map[bool]string{true: "2.0.0", false: "1.0.0"}[kind == "other"]
				d, w, entries := many(b, n, "version="+version)
				made := w.made()
				mid := n / 2
				changed := &Entry{Raw: entries[mid].Raw + "&weight=50"}
				changed.URL = parse(b, changed.Raw)
				lists := [2][]*Entry{entries, nil}
				switch kind {
				case "member":
					lists[1] = append(append(lists[1], entries[:mid]...), entries[mid+1:]...)
				case "nothing":
					lists[1] = entries
				default:
					lists[1] = append(lists[1], entries...)
					lists[1][mid] = changed
				}
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					i++
					d.Notify(Snapshot{Providers: lists[i%2], Read: time.Now()})
				}
				if kind != "member" {
					require.Equal(b, made, w.made())
				}
			})
		}
	}
}

func BenchmarkList(b *testing.B) {
	d, _, _ := many(b, 10_000, "version=1.0.0")
	b.ReportAllocs()
	for b.Loop() {
		if d.List().Candidates.Len() != 10_000 {
			b.Fatal("short list")
		}
	}
}
