//go:build unix && !linux

package confine

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func deathFence() Fence {
	return Fence{Name: fenceDeath, Why: "this system has no death signal; a program that outlives a killed server ends with its own limits"}
}

// A tree is a process group: what the program starts stays in it unless it leaves on purpose.
type tree struct{ pid int }

func startTree(command *exec.Cmd) (tree, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return tree{}, err
	}
	return tree{pid: command.Process.Pid}, nil
}

func (t tree) kill() { syscall.Kill(-t.pid, syscall.SIGKILL) }

// close ends what is left of the group when its leader has ended.
func (t tree) close() { t.kill() }

func exitOf(state *os.ProcessState) Exit {
	exit := Exit{Code: -1, CPU: state.UserTime() + state.SystemTime()}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		exit.Signal = status.Signal()
	} else {
		exit.Code = state.ExitCode()
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		exit.MaxRSS = int64(usage.Maxrss) // bytes on this system
	}
	exit.CPU = exit.CPU.Round(time.Microsecond)
	return exit
}
