//go:build linux || darwin

package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tryLock takes the lock of an open file if it is free. The kernel frees it with the process.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return false, err
		}
	}
}

func chmod(f *os.File, mode os.FileMode) error { return f.Chmod(mode) }

func (s *Store) syncDir(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return fmt.Errorf("storing a file: %w", err)
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) { // file systems that cannot sync a folder
		err = nil
	}
	return errors.Join(err, d.Close())
}

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// checkPrivate walks from the root of the file system to dir. Each folder on the way must belong to
// us or to root and be closed to others, or be sticky as /tmp is: whoever can rename a folder on the
// way can put another in its place. Links are followed only where root made them; the last part may
// not be one.
func checkPrivate(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("checking cache folder: %w", err)
	}
	if err := checkFolder(dir, st); err != nil {
		return err
	}
	up := filepath.Dir(dir)
	if st, err = os.Lstat(up); err != nil {
		return fmt.Errorf("checking cache folder: %w", err)
	}
	return checkWay(up, st)
}

// CheckFolder holds what there is of dir, and the way to it, to the rules of Open, and makes nothing.
//
// A process that enters a user namespace has to call it before: in there every owner but ourselves
// looks the same, so Open can no longer tell root's folders on the way from a stranger's, and takes
// both.
func CheckFolder(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("checking cache folder %q: %w: give an absolute path", dir, ErrUnsafe)
	}
	for p := filepath.Clean(dir); ; p = filepath.Dir(p) {
		st, err := os.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist) && p != filepath.Dir(p):
			continue
		case err != nil:
			return fmt.Errorf("checking cache folder: %w", err)
		case p == filepath.Clean(dir):
			return checkPrivate(p)
		}
		return checkWay(p, st)
	}
}

// checkWay checks a folder on the way and all above it.
func checkWay(p string, st fs.FileInfo) error {
	for {
		if err := checkAncestor(p, st); err != nil {
			return err
		}
		up := filepath.Dir(p)
		if up == p {
			return nil
		}
		p = up
		var err error
		if st, err = os.Lstat(p); err != nil {
			return fmt.Errorf("checking cache folder: %w", err)
		}
	}
}

func checkAncestor(p string, st fs.FileInfo) error {
	sys := st.Sys().(*syscall.Stat_t)
	if st.Mode()&fs.ModeSymlink != 0 {
		if sys.Uid != 0 && !hidden(sys.Uid) {
			return fmt.Errorf("checking cache folder: %w: %s is a link; name the folder that it leads to", ErrUnsafe, p)
		}
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return fmt.Errorf("checking cache folder: %w", err)
		}
		if st, err = os.Lstat(real); err != nil {
			return fmt.Errorf("checking cache folder: %w", err)
		}
		return checkAncestor(real, st)
	}
	uid := uint32(os.Geteuid())
	if sys.Uid != uid && sys.Uid != 0 && !hidden(sys.Uid) {
		return fmt.Errorf("checking cache folder: %w: %s belongs to user %d, who could swap what lies below; choose another folder", ErrUnsafe, p, sys.Uid)
	}
	if st.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	// A group with the user's own number is the user's private group, a habit of many distributions.
	ownGroup := sys.Gid == 0 || sys.Gid == uid || hidden(sys.Gid)
	if st.Mode().Perm()&0o002 != 0 || st.Mode().Perm()&0o020 != 0 && !ownGroup {
		return fmt.Errorf("checking cache folder: %w: others can write %s (mode %04o); run: chmod go-w %s", ErrUnsafe, p, st.Mode().Perm(), p)
	}
	return nil
}

func checkFolder(p string, st fs.FileInfo) error {
	if st.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("checking cache folder: %w: %s is a link; name the folder that it leads to", ErrUnsafe, p)
	}
	if !st.IsDir() {
		return fmt.Errorf("checking cache folder: %w: %s is no folder", ErrUnsafe, p)
	}
	return checkOwner(p, st)
}

func checkFile(p string, st fs.FileInfo) error {
	if !st.Mode().IsRegular() {
		return fmt.Errorf("checking cached file: %w: %s is no regular file; remove it and run sallyport setup", ErrDamaged, p)
	}
	return checkOwner(p, st)
}

func checkOwner(p string, st fs.FileInfo) error {
	sys := st.Sys().(*syscall.Stat_t)
	if uid := uint32(os.Geteuid()); sys.Uid != uid && sys.Uid != 0 {
		return fmt.Errorf("checking cache: %w: %s belongs to user %d, not to you (%d); choose another folder", ErrUnsafe, p, sys.Uid, uid)
	}
	if st.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("checking cache: %w: others can write %s (mode %04o); make sure that its content is yours, then run: chmod go-w %s", ErrUnsafe, p, st.Mode().Perm(), p)
	}
	return nil
}
