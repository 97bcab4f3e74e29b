package zookeeper

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestQueueRunsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		begin := time.Now()
		var ran []string
		add := func(name string, after time.Duration) *job {
			j := newJob(func() { ran = append(ran, fmt.Sprint(name, " ", time.Since(begin))) })
			q.set(j, begin.Add(after))
			return j
		}
		a, b := add("a", 3*time.Second), add("b", 2*time.Second)
		add("c", time.Second)
		q.set(a, begin.Add(1500*time.Millisecond)) // earlier
		q.set(b, begin.Add(4*time.Second))         // later
		never := add("d", time.Second)
		q.set(never, time.Time{})
		q.set(never, time.Time{})
		wait(time.Minute)
		q.close()
		assert.Equal(t, []string{"c 1s", "a 1.5s", "b 4s"}, ran)
		q.set(b, time.Now())
		wait(time.Minute)
		assert.Len(t, ran, 3, "closed")
	})
}

// A job that is set while it runs runs again afterwards, never twice at once, and
// no more than max jobs run at a time.
func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, jobs = 3, 10
		q := newQueue(limit)
		var mu sync.Mutex
		running, most := map[int]int{}, 0
		runs := make([]int, jobs)
		all := make([]*job, jobs)
		for i := range all {
			all[i] = newJob(func() {
				mu.Lock()
				running[i]++
				runs[i]++
				n := 0
				for _, r := range running {
					n += r
				}
				most = max(most, n)
				assert.Equal(t, 1, running[i])
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				running[i]--
				mu.Unlock()
			})
		}
		for range 500 {
			q.set(all[rand.IntN(jobs)], time.Now().Add(time.Duration(rand.IntN(100))*time.Millisecond))
			wait(10 * time.Millisecond)
		}
		wait(time.Minute)
		assert.Equal(t, limit, most)
		assert.NotContains(t, runs, 0)
		before := slices.Clone(runs)
		q.set(all[0], time.Now())
		wait(time.Millisecond)
		q.set(all[0], time.Now()) // while it runs
		q.set(all[0], time.Now().Add(5*time.Second))
		wait(time.Minute)
		assert.Equal(t, before[0]+2, runs[0])
		q.close()
	})
}

func TestQueueCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2)
		done := false
		q.set(newJob(func() { <-time.After(time.Second); done = true }), time.Now())
		synctest.Wait()
		q.close()
		assert.True(t, done)
	})
}
