package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock of an open file if it is free. The system frees it with the process.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, err
}

// chmod does nothing: a read-only attribute would only keep us from replacing a damaged file.
func chmod(*os.File, os.FileMode) error { return nil }

// syncDir does nothing: NTFS journals names by itself.
func (s *Store) syncDir(string) error { return nil }

func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// checkPrivate sees kinds of files only; access lists are not judged here, and the profile folder
// that caches live in is private by default. docs/cache.md says so.
func checkPrivate(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("checking cache folder: %w", err)
	}
	return checkFolder(dir, st)
}

func checkFolder(p string, st fs.FileInfo) error {
	if !st.IsDir() || st.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return fmt.Errorf("checking cache folder: %w: %s is a link or no folder", ErrUnsafe, p)
	}
	return nil
}

func checkFile(p string, st fs.FileInfo) error {
	if !st.Mode().IsRegular() {
		return fmt.Errorf("checking cached file: %w: %s is no regular file; remove it and run sallyport setup", ErrDamaged, p)
	}
	return nil
}

// CheckFolder has nothing to add here: there are no user namespaces to enter.
func CheckFolder(string) error { return nil }
