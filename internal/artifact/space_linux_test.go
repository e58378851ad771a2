package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDiskFull(t *testing.T) {
	dir := privateDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("needs a small file system, and mounting one takes root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	s, err := Open(filepath.Join(dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	item, wheel := itemOf(t, "1.2")
	item.Members[0].Size = 1 << 20
	big := strings.Repeat("x", 1<<20)
	item.Members[0].SHA256 = sum([]byte(big))
	from := privateDir(t)
	for name, body := range map[string]string{"program": big, "wheel": string(wheel)} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Ensure(context.Background(), item, Source{From: from}, nil)
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "--cache") {
		t.Errorf("got %v, want what to do about a full disk", err)
	}
	nothingStaged(t, s)
}
