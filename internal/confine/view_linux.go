package confine

import (
	"errors"
	"fmt"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

// A view is a mount namespace in which nothing of the host exists but what was bound, read-only.
// It is made once for a belt; each box takes a private copy, which is quick because it has a
// dozen mounts and not the host's hundreds, and puts its own scratch folders there.
type view struct {
	namespace int // descriptor; -1 when there is none
}

// scratchPath is where a scratch folder lies in a view.
func scratchPath(name string) string { return "/scratch/" + name }

// newView builds the view on a thread that is thrown away.
func newView(binds []bind, scratch []Scratch) (view, error) {
	v := view{namespace: -1}
	t := newThread()
	defer t.end()
	err := t.do(func() (err error) {
		v.namespace, err = buildView(binds, scratch)
		return err
	})
	return v, err
}

func (v *view) close() {
	if v.namespace >= 0 {
		unix.Close(v.namespace)
		v.namespace = -1
	}
}

// buildView leaves the calling thread in the new view and returns a descriptor of its namespace.
func buildView(binds []bind, scratch []Scratch) (namespace int, err error) {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return -1, fmt.Errorf("unsharing mount namespace: %w", err)
	}
	unix.Umask(0)
	// Nothing that is mounted here may show outside, nor the reverse.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return -1, fmt.Errorf("making mounts private: %w", err)
	}
	namespace, err = unix.Open("/proc/thread-self/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening mount namespace: %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(namespace)
			namespace = -1
		}
	}()
	var trees []int
	defer func() {
		for _, tree := range trees {
			unix.Close(tree)
		}
	}()
	for _, b := range binds {
		tree, err := unix.OpenTree(unix.AT_FDCWD, b.source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
		if err != nil {
			return -1, fmt.Errorf("cloning mount of %s: %w", b.source, err)
		}
		trees = append(trees, tree)
		if err := freeze(tree, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return -1, fmt.Errorf("making %s read-only: %w", b.source, err)
		}
	}
	root, err := newTmpfs(map[string]string{"size": "1m", "nr_inodes": "1000", "mode": "0755"}, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	if err := unix.MoveMount(root, "", unix.AT_FDCWD, "/", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return -1, fmt.Errorf("mounting new root: %w", err)
	}
	for i, b := range binds {
		if err := makePlace(root, b.target, b.folder); err != nil {
			return -1, err
		}
		if err := unix.MoveMount(trees[i], "", root, b.target[1:], unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return -1, fmt.Errorf("binding %s: %w", b.source, err)
		}
	}
	for _, folder := range scratch {
		if err := makePlace(root, scratchPath(folder.Name), true); err != nil {
			return -1, err
		}
	}
	if err := unix.Fchdir(root); err != nil {
		return -1, fmt.Errorf("entering new root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		// A host that still runs from its first root file system (initramfs) cannot pivot.
		// Its mounts then stay underneath, where no path leads.
		if !errors.Is(err, unix.EINVAL) {
			return -1, fmt.Errorf("pivoting root: %w", err)
		}
		if err := unix.Chroot("."); err != nil {
			return -1, fmt.Errorf("changing root: %w", err)
		}
	} else if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return -1, fmt.Errorf("detaching the host's root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return -1, fmt.Errorf("entering new root: %w", err)
	}
	if err := freeze(root, unix.MOUNT_ATTR_RDONLY); err != nil {
		return -1, fmt.Errorf("making new root read-only: %w", err)
	}
	return namespace, nil
}

// enter takes the calling thread into a private copy of the view and mounts the scratch folders.
// The descriptors are the host's handles on them, in the order of the list.
func (v view) enter(scratch []Scratch, id identity) (handles []int, err error) {
	defer func() {
		if err != nil {
			for _, fd := range handles {
				unix.Close(fd)
			}
			handles = nil
		}
	}()
	// The thread's root, working folder and umask must be its own before it can change them.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return nil, fmt.Errorf("unsharing root folder: %w", err)
	}
	if err := unix.Setns(v.namespace, unix.CLONE_NEWNS); err != nil {
		return nil, fmt.Errorf("entering view: %w", err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return nil, fmt.Errorf("copying view: %w", err)
	}
	for _, folder := range scratch {
		fd, err := newTmpfs(map[string]string{
			"size":      strconv.FormatInt(folder.Bytes, 10),
			"nr_inodes": strconv.Itoa(folder.Files + 1), // the folder itself takes one
			"mode":      "0700",
			"uid":       strconv.Itoa(id.uid),
			"gid":       strconv.Itoa(id.gid),
		}, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return handles, err
		}
		handles = append(handles, fd)
		if err := unix.MoveMount(fd, "", unix.AT_FDCWD, scratchPath(folder.Name), unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return handles, fmt.Errorf("mounting scratch folder: %w", err)
		}
	}
	return handles, nil
}

func newTmpfs(options map[string]string, attributes int) (int, error) {
	context, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("opening tmpfs: %w", err)
	}
	defer unix.Close(context)
	for key, value := range options {
		if err := unix.FsconfigSetString(context, key, value); err != nil {
			return -1, fmt.Errorf("setting %s of tmpfs: %w", key, err)
		}
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, fmt.Errorf("creating tmpfs: %w", err)
	}
	fd, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, attributes)
	if err != nil {
		return -1, fmt.Errorf("mounting tmpfs: %w", err)
	}
	return fd, nil
}

// freeze adds attributes to a mount. It never clears one, so what the host had locked stays.
func freeze(fd int, attributes uint64) error {
	return unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attributes})
}

// makePlace makes an empty file or folder in the new root, and the folders above it.
func makePlace(root int, target string, folder bool) error {
	parents := target[1:]
	if !folder {
		parents = path.Dir(parents)
	}
	for i := 0; i <= len(parents); i++ {
		if i < len(parents) && parents[i] != '/' {
			continue
		}
		if err := unix.Mkdirat(root, parents[:i], 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("making place for %s: %w", target, err)
		}
	}
	if folder {
		return nil
	}
	fd, err := unix.Openat(root, target[1:], unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return fmt.Errorf("making place for %s: %w", target, err)
	}
	return unix.Close(fd)
}
