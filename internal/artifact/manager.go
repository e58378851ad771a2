package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A manager is a package manager that this machine has, as the command line that starts it.
//
// It runs with the user's own environment and configuration, since that is where the index of a
// mirror, the proxy and the certificates stand. Nothing of what it does is trusted: see Ensure.
type manager struct {
	kind string // "pip" or "uv"
	argv []string
}

func (m manager) String() string { return strings.Join(m.argv, " ") }

// candidates are tried in this order. "python3 -m pip" goes first: a bare pip on PATH may belong to
// another Python, or be a wrapper that only prints advice.
func candidates(kind string) []manager {
	all := []manager{
		{"pip", []string{"python3", "-m", "pip"}},
		{"pip", []string{"pip3"}},
		{"pip", []string{"pip"}},
		{"pip", []string{"python", "-m", "pip"}},
		{"uv", []string{"uv"}},
	}
	if runtime.GOOS == "windows" {
		all = append([]manager{{"pip", []string{"py", "-m", "pip"}}}, all...)
	}
	if kind == "" {
		return all
	}
	var some []manager
	for _, m := range all {
		if m.kind == kind {
			some = append(some, m)
		}
	}
	return some
}

// managers finds those that start. At most one of each kind is of use.
func managers(ctx context.Context, kind string) ([]manager, error) {
	if kind != "" && kind != "pip" && kind != "uv" {
		return nil, fmt.Errorf("choosing a package manager: %q is neither pip nor uv", kind)
	}
	var found []manager
	has := map[string]bool{}
	for _, m := range candidates(kind) {
		if has[m.kind] {
			continue
		}
		p, err := exec.LookPath(m.argv[0]) // refuses what lies in the working folder
		if err != nil {
			continue
		}
		m.argv = append([]string{p}, m.argv[1:]...)
		probe, cancel := context.WithTimeout(ctx, 30*time.Second)
		_, err = m.run(probe, os.TempDir(), os.Environ(), "--version")
		cancel()
		if err == nil {
			found = append(found, m)
			has[m.kind] = true
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: neither pip nor uv starts here. Install one of them (python3 -m ensurepip, or your system's package), or bring the files from another machine: run sallyport setup --export FILE there and sallyport setup --from FILE here", ErrNoPip)
	}
	return found, nil
}

// run starts the manager in its own process group, so that an interrupt ends its children too, and
// without standard input, so that it can ask nothing.
func (m manager) run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.argv[0], append(m.argv[1:len(m.argv):len(m.argv)], args...)...)
	cmd.Dir = dir
	cmd.Env = env
	out := &tail{max: 16 << 10}
	cmd.Stdout, cmd.Stderr = out, out
	ownGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.String(), context.Cause(ctx)
	}
	return out.String(), err
}

// tail keeps the end of what was written: there the reason stands.
type tail struct {
	buf bytes.Buffer
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if extra := t.buf.Len() - t.max; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buf.String() }

// environment is the user's own, with what would make the manager wait for an answer turned off, and
// temporary files where we can measure and remove them.
func environment(tmp string) []string {
	return append(os.Environ(),
		"TMPDIR="+tmp, "TEMP="+tmp, "TMP="+tmp,
		"PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_REQUIRE_VIRTUALENV=0", "PIP_PROGRESS_BAR=off", "PIP_NO_COLOR=1",
		"UV_NO_PROGRESS=1", "NO_COLOR=1")
}

// A pick is one wheel to fetch. Without digests any wheel of that version is taken, which only the
// first use of an extra package does.
type pick struct {
	project, version string
	platform         string // a wheel's tag; "any" for pure wheels
	digests          []Digest
	size             int64
	// uv has no platform "any": where a project has native wheels too, it takes one of those. Asked for
	// this one it cannot, since there are hardly any, and what comes is checked all the same.
	foreign bool
}

func (p pick) requirement() string {
	line := p.project + "==" + p.version
	for _, d := range p.digests {
		line += " --hash=sha256:" + string(d)
	}
	return line + "\n"
}

// fetch makes the manager download one wheel. pip leaves the wheel in out. uv has no download
// command, so it unpacks the wheel there, after it has checked the wheel's hash; what is taken from
// it is checked file by file.
func (m manager) fetch(ctx context.Context, stage *stage, p pick, progress Progress) (out string, err error) {
	base := filepath.Join(stage.path(), unique())
	out, tmp, list := filepath.Join(base, "out"), filepath.Join(base, "tmp"), filepath.Join(base, "requirements.txt")
	for _, d := range []string{base, out, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return "", fmt.Errorf("preparing the download: %w", spaceHint(err))
		}
	}
	if err := os.WriteFile(list, []byte(p.requirement()), 0o600); err != nil {
		return "", fmt.Errorf("preparing the download: %w", spaceHint(err))
	}
	stop := watch(ctx, base, "downloading "+p.project+" "+p.version+" with "+m.kind, p.size, progress)
	defer stop()
	said, err := m.run(ctx, base, environment(tmp), m.arguments(p, out, list)...)
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("downloading: %w; run the same command again: it starts clean", context.Cause(ctx))
	}
	return "", m.explain(p, said, err)
}

func (m manager) arguments(p pick, out, list string) []string {
	var args []string
	if m.kind == "uv" {
		// --no-config is left out on purpose: the index of a mirror stands there.
		args = []string{"pip", "install", "--target", out, "--no-deps", "--no-build", "--link-mode", "copy", "--python-version", "3.13"}
		t := uvPlatform(p.platform)
		if p.foreign {
			t = "wasm32-pyodide2024"
		}
		if t != "" {
			args = append(args, "--python-platform", t)
		}
	} else {
		args = []string{"download", "--dest", out, "--no-deps", "--only-binary=:all:", "--python-version", "3.13"}
		args = append(args, "--platform", p.platform) // "any" keeps wheels with native code out
	}
	if len(p.digests) > 0 {
		args = append(args, "--require-hashes")
	}
	return append(args, "-r", list)
}

// uvPlatform translates a wheel's tag to uv's name for the machine.
func uvPlatform(tag string) string {
	for _, p := range []struct{ prefix, suffix, name string }{
		{"manylinux", "x86_64", "x86_64-unknown-linux-gnu"},
		{"manylinux", "aarch64", "aarch64-unknown-linux-gnu"},
		{"musllinux", "x86_64", "x86_64-unknown-linux-musl"},
		{"musllinux", "aarch64", "aarch64-unknown-linux-musl"},
		{"macosx", "x86_64", "x86_64-apple-darwin"},
		{"macosx", "arm64", "aarch64-apple-darwin"},
		{"win", "amd64", "x86_64-pc-windows-msvc"},
		{"win", "arm64", "aarch64-pc-windows-msvc"},
	} {
		if strings.HasPrefix(tag, p.prefix) && strings.HasSuffix(tag, p.suffix) {
			return p.name
		}
	}
	return ""
}

// watch tells how much has arrived, by looking at the folder: neither manager reports it in a stable form.
func watch(ctx context.Context, dir, step string, total int64, progress Progress) (stop func()) {
	if progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	progress.say(step, 0, total)
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(500 * time.Millisecond):
				n := sizeOf(dir)
				if total > 0 {
					n = min(n, total)
				}
				progress.say(step, n, total)
			}
		}
	}()
	return func() { cancel(); <-done }
}

func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if st, err := e.Info(); err == nil {
				n += st.Size()
			}
		}
		return nil
	})
	return n
}

// explain turns what the manager said into what to do. Its own last lines are kept: they name the
// index and the host, which we do not know.
func (m manager) explain(p pick, said string, err error) error {
	low := strings.ToLower(said)
	last := lastLines(said, 4)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	name := p.project + " " + p.version
	if p.platform == "any" {
		name += " as a wheel of Python code alone"
	}
	switch {
	case has("no space left", "disk quota", "os error 28", "not enough space"):
		return fmt.Errorf("%w: %s ran out of disk while it fetched %s; free some space (its own cache counts too: %s cache purge or uv cache clean) and run the same command again", ErrNoSpace, m, name, m)
	case has("do not match the hashes", "hash mismatch", "hashes are required", "doesn't match", "in --require-hashes mode"):
		return fmt.Errorf("%w: the index offers another file for %s than the lock names; nothing of it was used. A mirror that rebuilds packages, a cut download or an attack look the same: try another index, or --from. %s said: %s", ErrMismatch, name, m, last)
	case has("certificate", "ssl", "tls"):
		return fmt.Errorf("%w: %s does not trust the index's certificate; tell it about your company's certificate (PIP_CERT or SSL_CERT_FILE) and run the same command again. It said: %s", ErrOffline, m, last)
	case has("no matching distribution", "no solution found", "not found in the package registry", "no versions of", "could not find a version"):
		return fmt.Errorf("%w: the index that %s uses has no %s, or cannot be reached; check with: %s; a mirror may lag behind, then name another index in its configuration, or use --from. It said: %s", ErrOffline, m, name, m.try(p), last)
	}
	return fmt.Errorf("%w: %s could not fetch %s (%w); check network, proxy and index with: %s; without a network bring the files: sallyport setup --from FILE. It said: %s", ErrOffline, m, name, err, m.try(p), last)
}

// try is a command that shows the same trouble without us.
func (m manager) try(p pick) string {
	if m.kind == "uv" {
		return fmt.Sprintf("%s pip install --dry-run --no-deps --target %s %s==%s", m, filepath.Join(os.TempDir(), "try"), p.project, p.version)
	}
	return fmt.Sprintf("%s download --no-deps -d %s %s==%s", m, filepath.Join(os.TempDir(), "try"), p.project, p.version)
}

func lastLines(s string, n int) string {
	var keep []string
	for _, l := range strings.Split(s, "\n") {
		l = strings.Map(func(r rune) rune {
			if r < 0x20 || r == 0x7f {
				return -1
			}
			return r
		}, strings.TrimSpace(l))
		if l != "" {
			keep = append(keep, l)
		}
	}
	if len(keep) > n {
		keep = keep[len(keep)-n:]
	}
	return hideLogin(strings.Join(keep, " | "))
}

// hideLogin takes user and password out of addresses: indexes are often configured with them.
func hideLogin(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		scheme := strings.Index(w, "://")
		if scheme < 0 {
			continue
		}
		rest := w[scheme+3:]
		host, path, cut := strings.Cut(rest, "/")
		if at := strings.LastIndex(host, "@"); at >= 0 {
			host = "****@" + host[at+1:]
			if cut {
				host += "/"
			}
			words[i] = w[:scheme+3] + host + path
		}
	}
	return strings.Join(words, " ")
}

// fromManager tries each manager that this machine has. A file that is not the pinned one ends the
// search: asking elsewhere until something passes would hide an attack.
func (s *Store) fromManager(ctx context.Context, stage *stage, item Item, kind string, progress Progress) error {
	found, err := managers(ctx, kind)
	if err != nil {
		return err
	}
	p := pick{project: item.Project, version: item.Version, platform: item.Platform, digests: []Digest{item.SHA256}, size: item.Size}
	var all []error
	for _, m := range found {
		err := s.fromOne(ctx, stage, item, m, p, progress)
		if err == nil {
			return nil
		}
		all = append(all, err)
		if ctx.Err() != nil || errors.Is(err, ErrMismatch) || errors.Is(err, ErrNoSpace) || errors.Is(err, ErrArchive) {
			break
		}
	}
	return errors.Join(all...)
}

func (s *Store) fromOne(ctx context.Context, stage *stage, item Item, m manager, p pick, progress Progress) error {
	out, err := m.fetch(ctx, stage, p, progress)
	if err != nil {
		return err
	}
	if m.kind == "uv" {
		return s.takeTree(ctx, stage, item, out, progress)
	}
	list, err := wheelsIn(out)
	if err != nil {
		return err
	}
	for _, name := range list {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = s.takeWheel(ctx, stage, item, f, progress)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// takeTree takes the members from an unpacked wheel. Each has its own digest in the lock, so it does
// not matter what uv did to the rest.
func (s *Store) takeTree(ctx context.Context, stage *stage, item Item, dir string, progress Progress) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, m := range item.Members {
		f, err := root.Open(m.Path)
		if err != nil {
			return fmt.Errorf("%w: uv left no %s: %w", ErrMismatch, m.Path, err)
		}
		err = s.takeMember(ctx, stage, m, f, progress)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
