package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A folder holds the scratch folders of one box on the host's disk, where no private view can be
// had. A lock file beside it is held for as long as we live; a folder whose lock is free was left
// by a process that was killed, and is swept by the next one.
type folder struct {
	path string
	lock *os.File
}

const (
	boxPrefix  = "box-"
	lockSuffix = ".lock"
)

// runtimeFolder makes and checks the folder that holds all boxes. shared lets another user pass
// through it, by name only.
func runtimeFolder(path string, shared bool) (string, error) {
	if path == "" {
		path = filepath.Join(os.TempDir(), fmt.Sprintf("sallyport-%d", os.Getuid()))
	}
	mode := fs.FileMode(0o700)
	if shared {
		mode = 0o711
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return "", fmt.Errorf("making runtime folder: %w", err)
	}
	// Somebody else may have been first in a shared place like the temporary folder.
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("checking runtime folder: %w", err)
	}
	if !info.IsDir() || !ownedByUs(info) {
		return "", fmt.Errorf("checking runtime folder: %s is not a folder of ours; name another one or remove it", path)
	}
	if err := os.Chmod(path, mode); err != nil {
		return "", fmt.Errorf("closing runtime folder: %w", err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("resolving runtime folder: %w", err)
	}
	return resolved, nil
}

func newFolder(runtime string, shared bool) (*folder, error) {
	mode := fs.FileMode(0o700)
	if shared {
		mode = 0o711
	}
	for range 100 {
		lock, err := os.CreateTemp(runtime, boxPrefix+"*"+lockSuffix)
		if err != nil {
			return nil, fmt.Errorf("making box folder: %w", err)
		}
		f := &folder{path: strings.TrimSuffix(lock.Name(), lockSuffix), lock: lock}
		// A sweeper may have come between creation and lock and have taken it for a left one.
		if held, err := tryLock(lock); err != nil || !held || !sameFile(lock) {
			lock.Close()
			if err != nil {
				os.Remove(lock.Name())
				return nil, fmt.Errorf("locking box folder: %w", err)
			}
			continue
		}
		if err := os.Mkdir(f.path, mode); err != nil {
			f.close()
			return nil, fmt.Errorf("making box folder: %w", err)
		}
		if err := os.Chmod(f.path, mode); err != nil { // whatever the umask is
			f.close()
			return nil, fmt.Errorf("making box folder: %w", err)
		}
		return f, nil
	}
	return nil, errors.New("making box folder: somebody takes every lock away")
}

func sameFile(lock *os.File) bool {
	here, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(lock.Name())
	return err == nil && os.SameFile(here, there)
}

func (f *folder) add(name string) (string, error) {
	path := filepath.Join(f.path, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", fmt.Errorf("making scratch folder: %w", err)
	}
	return path, nil
}

// close removes the folder with all that the program left in it.
func (f *folder) close() error {
	if f == nil {
		return nil
	}
	err := removeTree(f.path)
	if err == nil {
		err = os.Remove(f.lock.Name())
	}
	return errors.Join(err, f.lock.Close())
}

// sweep removes the folders of processes that are gone.
func sweep(runtime string) error {
	entries, err := os.ReadDir(runtime)
	if err != nil {
		return fmt.Errorf("sweeping runtime folder: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), boxPrefix) || !strings.HasSuffix(entry.Name(), lockSuffix) {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(runtime, entry.Name()), os.O_RDWR, 0)
		if err != nil {
			continue // gone meanwhile
		}
		if held, err := tryLock(lock); err != nil || !held || !sameFile(lock) {
			lock.Close()
			continue
		}
		left := &folder{path: strings.TrimSuffix(lock.Name(), lockSuffix), lock: lock}
		if err := left.close(); err != nil {
			return fmt.Errorf("sweeping runtime folder: %w", err)
		}
	}
	return nil
}

// use is what a scratch folder takes.
type use struct {
	bytes   int64
	files   int
	tooDeep bool
	device  uint64
}

// maxDepth bounds the walk that measures a folder. Nesting beyond it counts as over the quota.
const maxDepth = 128
