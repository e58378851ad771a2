//go:build unix

package transport

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// peerGone reports that nobody can read what is written to out any more. A pipe tells so without
// being written to; without this, a client that died would be noticed only when its call ends.
func peerGone(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	if err := raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
	}); err != nil {
		return true
	}
	return gone
}
