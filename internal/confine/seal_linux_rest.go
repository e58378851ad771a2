//go:build linux && !amd64 && !arm64

package confine

import "golang.org/x/sys/unix"

// Nothing is started on these architectures; see seccomp_linux_rest.go.
var callAndTrap []byte

type registers struct{}

func (r *registers) get(int) error          { return unix.ENOSYS }
func (r *registers) set(int) error          { return unix.ENOSYS }
func (r *registers) counter() uintptr       { return 0 }
func (r *registers) stack() uintptr         { return 0 }
func (r *registers) result() uint64         { return 0 }
func (r *registers) setCall(int, []uintptr) {}

func (p *puppet) callAll(requests []request) error { return p.callEach(requests) }
