package confine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// A thread is an operating system thread that runs jobs of ours and nothing else. Namespaces,
// user ids, capabilities and Landlock bind to it and go to what it forks; they can never be
// taken off, so the goroutine is never unlocked and the thread ends with it. The death signal of
// a child is bound to the thread that forked it as well: the thread stays until the child ended.
type thread struct {
	jobs chan func()
}

func newThread() *thread {
	t := &thread{jobs: make(chan func())}
	go t.run(nil)
	return t
}

func (t *thread) run(pinned chan<- struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The runtime cannot end the first thread, and the kernel takes it for the whole
		// process (/proc, signals). It must never be confined. While it is pinned here the
		// next goroutine is on another one.
		other := make(chan struct{})
		go t.run(other)
		<-other
		runtime.UnlockOSThread()
		return
	}
	if pinned != nil {
		close(pinned)
	}
	for job := range t.jobs {
		job()
	}
}

// do runs f on the thread and returns its error.
func (t *thread) do(f func() error) error {
	done := make(chan error, 1)
	t.jobs <- func() { done <- f() }
	return <-done
}

// post runs f on the thread without waiting for it.
func (t *thread) post(f func()) { t.jobs <- f }

// end lets the thread end after the jobs that it has.
func (t *thread) end() { close(t.jobs) }
