package wasm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/python/wasm/image"
	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

// imageSize is how much memory an image holds, in bytes. What its packages leave free the script
// gets first; it is not in the way, since pages that nobody touches are not even read.
const imageSize = 416 << 20

// A templateRecord says where the compiled interpreter lies in the store.
type templateRecord struct {
	Key    string          `json:"key"`
	Digest artifact.Digest `json:"digest"`
	Size   int64           `json:"size"`
	Offset int64           `json:"offset"` // of the memory, in the file
}

// A template is the compiled interpreter without a memory of its own.
type template struct {
	*os.File
	record templateRecord
}

// with is the template's file with its memory written over.
func (t *template) with(memory []byte) io.Reader {
	after := t.record.Offset + int64(len(memory))
	return io.MultiReader(
		io.NewSectionReader(t, 0, t.record.Offset),
		bytes.NewReader(memory),
		io.NewSectionReader(t, after, t.record.Size-after),
	)
}

// template compiles the interpreter, unless that was done before with the same program, on the
// same kind of processor.
func (s *stage) template(ctx context.Context) (*template, error) {
	key, err := s.templateKey()
	if err != nil {
		return nil, err
	}
	if t := s.knownTemplate(key); t != nil {
		return t, nil
	}
	mod, err := s.interpreterModule()
	if err != nil {
		return nil, err
	}
	if err := patch.Apply(mod); err != nil {
		return nil, err
	}
	if err := image.Template(mod, buildSource, startSource, imageSize); err != nil {
		return nil, err
	}
	if err := writeModule(s.path("template.wasm"), mod.Encode); err != nil {
		return nil, err
	}
	s.Progress("compiling the interpreter", 0, 0)
	if err := s.compile(ctx, "template.wasm", "template.cwasm"); err != nil {
		return nil, err
	}
	return s.keepTemplate(key)
}

func (s *stage) templateKey() (string, error) {
	data, err := json.Marshal(struct {
		Format, Size    int
		Module, Program artifact.Digest
		Patch, Image    string
		CPU             string
		Options         []string
		Build, Start    string
	}{format, imageSize, s.module, s.program.Digest, patch.Version(), image.Version(), processor(), codegen(), buildSource, startSource})
	if err != nil {
		return "", fmt.Errorf("naming template: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

func (s *stage) templatePath() string { return filepath.Join(s.Cache, manifestFolder, "template") }

// knownTemplate returns nil when there is none that fits and is whole; then it is made anew.
func (s *stage) knownTemplate(key string) *template {
	data, err := os.ReadFile(s.templatePath())
	if err != nil {
		return nil
	}
	var r templateRecord
	if json.Unmarshal(data, &r) != nil || r.Key != key {
		return nil
	}
	f, err := s.store.OpenVerified(r.Digest)
	if err != nil {
		return nil
	}
	return &template{f, r}
}

// keepTemplate puts a compiled template into the store and records it; the one before it goes.
func (s *stage) keepTemplate(key string) (*template, error) {
	f, err := os.Open(s.path("template.cwasm"))
	if err != nil {
		return nil, fmt.Errorf("storing template: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("storing template: %w", err)
	}
	r := templateRecord{Key: key, Size: st.Size()}
	if r.Offset, err = image.Find(f, r.Size, imageSize); err != nil {
		return nil, err
	}
	if r.Digest, err = s.store.Put(f, "", r.Size, false); err != nil {
		return nil, err
	}
	if old, err := os.ReadFile(s.templatePath()); err == nil {
		var o templateRecord
		if json.Unmarshal(old, &o) == nil && o.Digest != r.Digest {
			if err := s.store.Remove(o.Digest); err != nil {
				s.warnings = append(s.warnings, fmt.Sprintf("an older compiled interpreter stays in the cache: %v", err))
			}
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("recording template: %w", err)
	}
	if err := writeWhole(s.templatePath(), data); err != nil {
		return nil, fmt.Errorf("recording template: %w", err)
	}
	kept, err := s.store.OpenVerified(r.Digest)
	if err != nil {
		return nil, err
	}
	return &template{kept, r}, nil
}

func writeModule(name string, encode func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(encode(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	return nil
}
