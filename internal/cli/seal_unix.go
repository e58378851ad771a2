//go:build unix

package cli

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func (s sealer) Replace(settings Settings) error {
	pipe, descriptor, err := inherited(settings)
	if err != nil {
		return err
	}
	err = unix.Exec(s.executable, sealedArgs(s.args, descriptor), []string{})
	runtime.KeepAlive(pipe) // a collected file closes its descriptor
	return err
}

// inherited hands the settings over on a descriptor that survives exec.
func inherited(settings Settings) (*os.File, int, error) {
	pipe, err := handOver(settings)
	if err != nil {
		return nil, 0, err
	}
	descriptor := int(pipe.Fd())
	if _, err := unix.FcntlInt(uintptr(descriptor), unix.F_SETFD, 0); err != nil {
		pipe.Close()
		return nil, 0, err
	}
	return pipe, descriptor, nil
}
