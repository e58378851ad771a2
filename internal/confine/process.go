package confine

import (
	"sync"
	"syscall"
	"time"
)

// Causes of an end that a limit of ours brought about.
const (
	CauseMemory  = "memory"
	CauseCPU     = "cpu"
	CauseDisk    = "disk"
	CauseThreads = "threads"
)

// An Exit is what the operating system says about a process that has ended.
type Exit struct {
	Code   int            // exit status, -1 when a signal ended it
	Signal syscall.Signal // 0 unless a signal ended it
	Cause  string         // the limit that ended it, or "" when none did
	CPU    time.Duration  // user and system time
	MaxRSS int64          // peak resident bytes; never less than what we held at its start on Linux
}

// A Process runs inside a box. Its methods are safe for concurrent use.
type Process struct {
	pid  int
	done chan struct{}
	exit Exit
	pace chan time.Duration // how often the watchdog is to look from now on

	mu     sync.Mutex
	ended  bool // no signal is sent any more: the number may belong to somebody else
	killed string
	signal func() // sends the last signal to the process; called with mu held
}

// PID is the process number on the host.
func (p *Process) PID() int { return p.pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when the process has ended. It may be called more than once.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Kill ends the process at once. It does nothing when it has ended already.
func (p *Process) Kill() { p.kill("") }

// The watchdog's paces. Between two looks at a running process it can take what the memory bus
// gives, some tens of MB; the engine's own limit is the exact one.
const (
	watchInterval = 20 * time.Millisecond
	restInterval  = time.Second
)

// Rest makes the watchdog look at the process once in a second. It is for a process that runs
// nothing but our own code and waits for us; [Process.Wake] comes before anything else reaches it.
func (p *Process) Rest() { p.setPace(restInterval) }

// Wake makes the watchdog look as often as at any process.
func (p *Process) Wake() { p.setPace(watchInterval) }

func (p *Process) setPace(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.pace:
	default:
	}
	p.pace <- d
}

func (p *Process) kill(cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if p.killed == "" {
		p.killed = cause
	}
	p.signal()
}

// finish records the exit under the lock that kill takes, so that no signal can hit a number
// that was given to another process. reap gives up the number.
func (p *Process) finish(reap func() Exit) {
	p.mu.Lock()
	p.ended = true
	p.exit = reap()
	if p.exit.Signal != 0 && p.exit.Cause == "" {
		p.exit.Cause = p.killed
	}
	p.mu.Unlock()
	close(p.done)
}
