//go:build unix

package confine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// removeTree removes a folder whose content is hostile: any depth, any names, any modes. It
// needs two descriptors however deep the tree is, because each folder that it finds is first
// moved up to the top; and it never follows a link, because it opens only what it has just moved
// there itself.
func removeTree(path string) error {
	parent, err := openFolder(unix.AT_FDCWD, filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("removing scratch: %w", err)
	}
	defer parent.Close()
	top := filepath.Base(path)
	base, err := openFolder(int(parent.Fd()), top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing scratch: %w", err)
	}
	defer base.Close()
	moved := 0
	for {
		names, err := base.Readdirnames(256)
		if errors.Is(err, io.EOF) && len(names) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("removing scratch: %w", err)
		}
		for _, name := range names {
			if err := removeEntry(int(base.Fd()), name, int(base.Fd()), &moved); err != nil {
				return fmt.Errorf("removing scratch: %w", err)
			}
		}
		if _, err := base.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("removing scratch: %w", err)
		}
	}
	if err := unix.Unlinkat(int(parent.Fd()), top, unix.AT_REMOVEDIR); err != nil {
		return fmt.Errorf("removing scratch: %w", err)
	}
	return nil
}

// removeEntry removes a file of dir, or empties and removes a folder of it. Folders below go to
// the base under a name that no program can have taken: it has no access there.
func removeEntry(dir int, name string, base int, moved *int) error {
	err := unix.Unlinkat(dir, name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	var stat unix.Stat_t
	if statErr := unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW); statErr != nil {
		return statErr
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return err
	}
	// A folder that cannot be written cannot be moved either.
	if err := unix.Fchmodat(dir, name, 0o700, 0); err != nil {
		return err
	}
	if dir != base {
		for {
			*moved++
			err := unix.Renameat(dir, name, base, fmt.Sprintf(".gone-%d", *moved))
			if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTDIR) {
				continue // of a removal that was cut short
			}
			return err
		}
	}
	folder, err := openFolder(dir, name)
	if err != nil {
		return err
	}
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(256)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, entry := range names {
			if err := removeEntry(int(folder.Fd()), entry, base, moved); err != nil {
				return err
			}
		}
		if len(names) == 0 {
			return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		}
		if _, err := folder.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
}

func openFolder(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// measure sums what a scratch folder takes while the program may be changing it.
func (f *folder) measure(name string) (use, error) {
	root, err := openFolder(unix.AT_FDCWD, filepath.Join(f.path, name))
	if err != nil {
		return use{}, err
	}
	defer root.Close()
	var u use
	var stat unix.Stat_t
	if err := unix.Fstat(int(root.Fd()), &stat); err != nil {
		return use{}, err
	}
	u.device = uint64(stat.Dev)
	measureFolder(root, 0, &u)
	return u, nil
}

func measureFolder(folder *os.File, depth int, u *use) {
	if depth > maxDepth {
		u.tooDeep = true
	}
	for !u.tooDeep {
		names, err := folder.Readdirnames(256)
		for _, name := range names {
			measureEntry(folder, name, depth, u)
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

func measureEntry(folder *os.File, name string, depth int, u *use) {
	var stat unix.Stat_t
	if unix.Fstatat(int(folder.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	u.files++
	u.bytes += stat.Blocks * 512
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	below, err := openFolder(int(folder.Fd()), name)
	if errors.Is(err, fs.ErrPermission) {
		// Made without read permission, to hide what is in it: WASI has no modes, so only an
		// engine that was taken over does that.
		u.tooDeep = true
	}
	if err != nil {
		return
	}
	measureFolder(below, depth+1, u)
	below.Close()
}
