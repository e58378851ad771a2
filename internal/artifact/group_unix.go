//go:build linux || darwin

package artifact

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes cancellation reach the children of the program too: a wrapper script in front of
// pip would otherwise leave the download running.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
