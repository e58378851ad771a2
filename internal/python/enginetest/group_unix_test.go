//go:build unix

package enginetest

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a process group of its own; the function that it returns ends what
// is left of the group.
func ownGroup(cmd *exec.Cmd) func() {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}
