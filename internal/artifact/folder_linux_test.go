package artifact

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// The way to a cache is checked before a user namespace hides the owners, and Open works inside.
func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	if err := CheckFolder(filepath.Join(dir, "not", "there", "yet")); err != nil {
		t.Errorf("a folder that is not there yet: %v", err)
	}
	if err := CheckFolder("relative"); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a relative folder: %v", err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, unsafe := range []string{open, filepath.Join(open, "below"), filepath.Join(open, "a", "b")} {
		if err := CheckFolder(unsafe); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v, want a refusal", unsafe, err)
		}
	}
}

func TestOpenInsideUserNamespace(t *testing.T) {
	const inside = "SALLYPORT_TEST_INSIDE"
	if dir := os.Getenv(inside); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		return
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable, "-test.run", "^TestOpenInsideUserNamespace$")
	cmd.Env = append(os.Environ(), inside+"="+filepath.Join(t.TempDir(), "cache"))
	// As confine does it: we alone are known inside, as root.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skip("no user namespaces here:", err)
	} else if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
