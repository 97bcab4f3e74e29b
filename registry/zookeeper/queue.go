package zookeeper

import (
	"container/heap"
	"sync"
	"time"
)

// job is something to do at a time, again and again, never twice at once.
type job struct {
	run     func()
	due     time.Time
	index   int  // in the heap, -1 outside
	running bool // then due is when to run again
}

func newJob(run func()) *job { return &job{run: run, index: -1} }

// queue runs jobs when they are due, by at most max goroutines that exist only
// while there is something to do.
type queue struct {
	mu      sync.Mutex
	jobs    jobHeap
	max     int
	running int
	closed  bool
	timer   *time.Timer
	workers sync.WaitGroup
}

func newQueue(workers int) *queue { return &queue{max: workers} }

// set replaces the time when the job is to run; the zero time is never. For a job
// that is running it is when to run again.
func (q *queue) set(j *job, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.due = due
	if j.running || q.closed {
		return
	}
	q.place(j)
	q.start()
}

// place puts the job where its time says.
func (q *queue) place(j *job) {
	switch {
	case j.due.IsZero():
		if j.index >= 0 {
			heap.Remove(&q.jobs, j.index)
		}
	case j.index >= 0:
		heap.Fix(&q.jobs, j.index)
	default:
		heap.Push(&q.jobs, j)
	}
}

// start gives due jobs to new workers and sets the timer for the next one.
func (q *queue) start() {
	for q.running < q.max {
		j := q.take()
		if j == nil {
			break
		}
		q.running++
		q.workers.Go(func() { q.work(j) })
	}
	if q.closed || q.running == q.max || len(q.jobs) == 0 {
		return
	}
	wait := max(0, time.Until(q.jobs[0].due))
	if q.timer == nil {
		q.timer = time.AfterFunc(wait, q.wake)
	} else {
		q.timer.Reset(wait)
	}
}

func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.start()
}

// take removes the first job if it is due.
func (q *queue) take() *job {
	if q.closed || len(q.jobs) == 0 || time.Until(q.jobs[0].due) > 0 {
		return nil
	}
	j := heap.Pop(&q.jobs).(*job)
	j.due, j.running = time.Time{}, true
	return j
}

// work runs the job and then whatever is due.
func (q *queue) work(j *job) {
	for j != nil {
		j.run()
		q.mu.Lock()
		j.running = false
		if !q.closed {
			q.place(j)
		}
		if j = q.take(); j == nil {
			q.running--
			q.start()
		}
		q.mu.Unlock()
	}
}

// close starts nothing any more and waits for the jobs that run.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	if q.timer != nil {
		q.timer.Stop()
	}
	q.mu.Unlock()
	q.workers.Wait()
}

type jobHeap []*job

func (h jobHeap) Len() int           { return len(h) }
func (h jobHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h jobHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *jobHeap) Push(x any) {
	j := x.(*job)
	j.index = len(*h)
	*h = append(*h, j)
}

func (h *jobHeap) Pop() any {
	old := *h
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	j.index = -1
	return j
}
