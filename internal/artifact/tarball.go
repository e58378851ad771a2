package artifact

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxTar bounds what a tar may unpack to, wanted or not: a small gzip file can hold petabytes.
const maxTar = 4 << 30

// eachTarFile reads a tar, plain or gzip. Nothing is unpacked under a name from the archive: what is
// wanted goes to a staging file of ours, the rest is skipped. Entries that an unpacker could be hurt
// by are refused all the same, since an archive that has them was not made by us or pip.
func eachTarFile(ctx context.Context, stage *stage, name string, want func(int64) bool, use func(*os.File, Digest) error) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return errors.Join(fmt.Errorf("%w: %s is no regular file", ErrArchive, name), err)
	}
	in, err := unzipped(contextReader{ctx, f})
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrArchive, name, err)
	}
	t := tar.NewReader(io.LimitReader(in, maxTar))
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return fmt.Errorf("%w: %s is empty or no tar", ErrArchive, name)
			}
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%w: %s is cut, larger than %d bytes, or no tar: %w; copy it again", ErrArchive, name, int64(maxTar), err)
		}
		if n >= maxEntries {
			return fmt.Errorf("%w: %s has more than %d entries", ErrArchive, name, maxEntries)
		}
		if err := checkEntry(h); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg || !want(h.Size) {
			continue
		}
		if err := stageEntry(ctx, stage, t, h.Size, use); err != nil {
			return err
		}
	}
}

func unzipped(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	if magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil
	}
	return gzip.NewReader(b)
}

func checkEntry(h *tar.Header) error {
	name := strings.TrimPrefix(strings.TrimSuffix(h.Name, "/"), "./")
	if h.Typeflag == tar.TypeDir {
		if name == "" || name == "." {
			return nil
		}
		return checkName(name)
	}
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("%w: entry %.60q is a link, a device or of an unknown kind (%q)", ErrArchive, h.Name, h.Typeflag)
	}
	if h.Size < 0 {
		return fmt.Errorf("%w: entry %.60q has a negative size", ErrArchive, h.Name)
	}
	return checkName(name)
}

func stageEntry(ctx context.Context, stage *stage, r io.Reader, size int64, use func(*os.File, Digest) error) error {
	name := stage.name + "/" + unique()
	f, err := stage.store.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("unpacking: %w", spaceHint(err))
	}
	defer stage.store.root.Remove(name)
	defer f.Close()
	if n, err := io.Copy(f, io.LimitReader(r, size)); err != nil || n != size {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			err = io.ErrUnexpectedEOF
		case noSpace(err):
			return fmt.Errorf("unpacking: %w", spaceHint(err))
		}
		return fmt.Errorf("%w: it is cut: %w; copy it again", ErrArchive, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	return useOpen(ctx, f, use)
}
