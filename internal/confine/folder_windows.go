package confine

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// ownedByUs trusts the per-user temporary folder of this system.
func ownedByUs(fs.FileInfo) bool { return true }

func tryLock(f *os.File) (bool, error) {
	var at windows.Overlapped
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, err
}

func removeTree(path string) error { return os.RemoveAll(path) }

func (f *folder) measure(name string) (use, error) {
	var u use
	root := filepath.Join(f.path, name)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return nil
		}
		u.files++
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			u.bytes += info.Size()
		}
		return nil
	})
	return u, err
}
