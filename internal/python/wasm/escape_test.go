//go:build linux

package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/python"
)

// Every file in testdata/escape is an attack. A line "print('DONE', …)" in one stands for something that
// must not be possible, so no attack may print that word. Lines that begin with "#:" say what comes of it:
//
//	#: ends exit 0 | timeout | failure crashed    alternatives; without it, exit 0
//	#: stdout has "text"                          also stderr, result and message (of a failure); and lacks, exact, matches
//	#: stdout truncated                           result none
//	#: files only                                 all that comes back is what the script itself wrote
//	#: files escaped                              no name holds a character that cannot be seen
//	#: figures 0
//	#: limit timeout 2s                           also memory and scratch in MiB, output in characters, files
//
// After each attack the cache is as it was, to the last change of each inode, and the next call finds a
// world that is fresh in everything that [sentinel] can name.

// sentinel prints what a script finds that an earlier one could have changed.
const sentinel = `
import builtins, codecs, colorsys, gc, hashlib, json, os, sys, tempfile, warnings
def digest(x): return hashlib.sha256(repr(x).encode()).hexdigest()
fds = []
for fd in range(256):
    try: os.fstat(fd); fds.append(fd)
    except OSError: pass
print(json.dumps({
    "builtins": digest(sorted((n, type(v).__name__) for n, v in vars(builtins).items())), "path": sys.path, "environ": sorted(os.environ.items()),
    "workspace": sorted((p, sorted(d), sorted(f)) for p, d, f in os.walk("/workspace")), "tmp": os.listdir("/tmp"), "control": os.listdir("/.sallyport") if os.path.exists("/.sallyport") else None,
    "modules": digest(sorted(sys.modules)), "fds": fds, "recursion": sys.getrecursionlimit(), "gc": [gc.get_threshold(), gc.isenabled(), gc.get_freeze_count() > 1000],
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, len(sys.meta_path), len(sys.path_hooks)], "argv": sys.argv,
    "cwd": os.getcwd(), "library": hashlib.sha256(open(colorsys.__file__, "rb").read()).hexdigest() if os.path.exists(colorsys.__file__) else colorsys.rgb_to_hsv(.1, .2, .3),
    "tempdir": tempfile.gettempdir(), "filters": len(warnings.filters), "sum": digest(sum(range(10**5))),
}))
`

func TestEscape(t *testing.T) {
	cache := preparedCache(t)
	e := openEngine(t, nil)
	fresh := mustRun(t, e, python.Request{Code: sentinel})
	if fresh.ExitCode == nil || *fresh.ExitCode != 0 {
		t.Fatalf("the sentinel fails on its own: %+v", fresh)
	}
	before := inventory(t, cache)
	for _, a := range attacks(t) {
		t.Run(a.name, func(t *testing.T) {
			out, err := attempt(t, e, a.request)
			for _, problem := range a.judge(out, err) {
				t.Error(problem)
			}
			if t.Failed() {
				t.Logf("it gave %s", told(out, err))
			}
			if changes := compareInventories(before, inventory(t, cache)); len(changes) > 0 {
				t.Fatalf("the cache was changed: %s", strings.Join(changes, "; "))
			}
			after := mustRun(t, e, python.Request{Code: sentinel})
			if after.Stdout.Text != fresh.Stdout.Text || after.Stderr.Text != "" {
				t.Errorf("the next call finds\n%s\n%s\nand not\n%s", after.Stdout.Text, after.Stderr.Text, fresh.Stdout.Text)
			}
		})
	}
	// The time of the last change of an inode cannot be set back, so the bytes need one look, at the end.
	m, err := readManifest(cache, DefaultImage)
	if err != nil {
		t.Fatal(err)
	}
	verifyBlobs(t, cache, m)
}

func verifyBlobs(t *testing.T, cache string, m manifest) {
	t.Helper()
	store, err := artifact.Open(cache)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, d := range []artifact.Digest{m.Native, m.Program} {
		f, err := store.OpenVerified(d)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// mustRun is a call that must have an outcome.
func mustRun(t testing.TB, e *Engine, req python.Request) python.Outcome {
	t.Helper()
	out, err := attempt(t, e, req)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	return out
}

func attempt(t testing.TB, e *Engine, req python.Request) (python.Outcome, error) {
	t.Helper()
	req.Limits = python.DefaultLimits().Narrow(req.Limits)
	ctx, cancel := context.WithTimeout(t.Context(), req.Limits.Timeout+90*time.Second)
	defer cancel()
	return e.Run(ctx, req)
}

// An attack is one file of testdata/escape.
type attack struct {
	name    string
	request python.Request
	ends    []string
	checks  []expectation
}

type expectation struct{ about, verb, text string }

func attacks(t testing.TB) []attack {
	t.Helper()
	files, err := filepath.Glob("testdata/escape/*.py")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d attacks, %v", len(files), err)
	}
	all := make([]attack, 0, len(files))
	for _, name := range files {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		a := attack{name: strings.TrimSuffix(filepath.Base(name), ".py"), ends: []string{"exit 0"}}
		a.request.Code = string(code)
		for line := range strings.Lines(string(code)) {
			if rule, ok := strings.CutPrefix(strings.TrimSpace(line), "#: "); ok {
				if err := a.take(rule); err != nil {
					t.Fatalf("%s: %q: %v", a.name, rule, err)
				}
			}
		}
		all = append(all, a)
	}
	return all
}

func (a *attack) take(rule string) error {
	about, rest, _ := strings.Cut(rule, " ")
	verb, text, _ := strings.Cut(rest, " ")
	switch about {
	case "ends":
		a.ends = strings.Split(rest, " | ")
		return nil
	case "limit":
		return a.limit(verb, text)
	case "stdout", "stderr", "result", "message", "files", "figures":
	default:
		return errors.New("unknown word")
	}
	var err error
	switch verb {
	case "has", "lacks", "exact", "matches":
		text, err = strconv.Unquote(text)
	case "none", "truncated", "only", "escaped", "0":
	default:
		err = errors.New("unknown word")
	}
	a.checks = append(a.checks, expectation{about, verb, text})
	return err
}

func (a *attack) limit(what, value string) (err error) {
	l := &a.request.Limits
	if what == "timeout" {
		l.Timeout, err = time.ParseDuration(value)
		return err
	}
	n, err := strconv.Atoi(value)
	switch what {
	case "memory":
		l.Memory = int64(n) << 20
	case "scratch":
		l.Scratch = int64(n) << 20
	case "files":
		l.ScratchFiles = n
	case "output":
		l.OutputChars = n
	default:
		return errors.New("unknown limit")
	}
	return err
}

func (a *attack) judge(out python.Outcome, err error) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	end, message := "nothing", ""
	var f *python.Failure
	switch {
	case errors.As(err, &f):
		end, message = "failure "+string(f.Kind), f.Message
		if f.Partial != nil {
			out = *f.Partial
		}
	case err != nil:
		wrong("the error is no failure: %v", err)
	case out.TimedOut:
		end = "timeout"
	case out.ExitCode != nil:
		end = "exit " + strconv.Itoa(*out.ExitCode)
	}
	if !slices.Contains(a.ends, end) {
		wrong("it ended with %s", end)
	}
	result := ""
	if out.Result != nil {
		result = out.Result.Text
	}
	if strings.Contains(out.Stdout.Text, "DONE") {
		wrong("something was done that must not be possible")
	}
	for name, text := range map[string]string{"stdout": out.Stdout.Text, "stderr": out.Stderr.Text, "result": result, "message": message} {
		// What the runtime or the host would say, and no guest may make us repeat.
		for _, secret := range []string{"wasm backtrace", "wasm trap", "wasm function", ".cwasm", ":/files", "root:x:0:0", os.Getenv(cacheVariable)} {
			if strings.Contains(text, secret) {
				wrong("%s shows %q", name, secret)
			}
		}
	}
	for _, file := range out.Files {
		if strings.Contains(string(file.Data), "root:x:0:0") {
			wrong("%s holds the accounts of the host", file.Path)
		}
	}
	for _, c := range a.checks {
		stream := map[string]python.Stream{"stdout": out.Stdout, "stderr": out.Stderr, "result": {Text: result}, "message": {Text: message}}[c.about]
		if !c.holds(stream, out) {
			wrong("%s %s %s does not hold", c.about, c.verb, c.text)
		}
	}
	return problems
}

func (c expectation) holds(s python.Stream, out python.Outcome) bool {
	switch c.about + " " + c.verb {
	case "result none":
		return out.Result == nil
	case "figures 0":
		return !slices.ContainsFunc(out.Files, func(a python.Artifact) bool { return a.Figure && a.Data != nil })
	case "files only":
		// The attacks with this line write no content that could come back but one word.
		return !slices.ContainsFunc(out.Files, func(a python.Artifact) bool { return len(a.Data) > 64 })
	case "files escaped":
		return len(out.Files) > 0 && !slices.ContainsFunc(out.Files, func(a python.Artifact) bool { return invisible.MatchString(a.Path) })
	}
	switch c.verb {
	case "has":
		return strings.Contains(s.Text, c.text)
	case "lacks":
		return !strings.Contains(s.Text, c.text)
	case "exact":
		return s.Text == c.text
	case "matches":
		return regexp.MustCompile(c.text).MatchString(s.Text)
	case "truncated":
		return s.Truncated
	}
	return false
}

// invisible are controls, separators, and what turns the direction of text.
var invisible = regexp.MustCompile(`[\p{C}\p{Zl}\p{Zp}]`)

func told(out python.Outcome, err error) string {
	var f *python.Failure
	if errors.As(err, &f) && f.Partial != nil {
		out = *f.Partial
	}
	var files strings.Builder
	for _, a := range out.Files[:min(len(out.Files), 10)] {
		fmt.Fprintf(&files, "%q %d bytes %s; ", a.Path, len(a.Data), a.Reason)
	}
	return fmt.Sprintf("%v (%v)\nstdout %.1500q\nstderr %.1500q\nfiles %s\nnotes %q", err, errors.Unwrap(err), out.Stdout.Text, out.Stderr.Text, files.String(), out.Notes)
}

// inventory is all that stat says of each file of a folder, but when it was read.
func inventory(t testing.TB, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !ok {
			return errors.New("no stat here")
		}
		target := ""
		if st.Mode()&fs.ModeSymlink != 0 {
			target, err = os.Readlink(path)
		}
		all[path] = fmt.Sprintf("mode %v uid %d gid %d links %d size %d inode %d modified %d changed %d %s", st.Mode(), sys.Uid, sys.Gid, sys.Nlink, st.Size(), sys.Ino, st.ModTime().UnixNano(), sys.Ctim.Nano(), target)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compareInventories(before, after map[string]string) (changes []string) {
	for path, was := range before {
		if now := after[path]; now != was {
			changes = append(changes, fmt.Sprintf("%s was %q and is %q", path, was, now))
		}
	}
	for path, now := range after {
		if _, ok := before[path]; !ok {
			changes = append(changes, fmt.Sprintf("%s is new: %q", path, now))
		}
	}
	return changes
}

// The attacks are no good if they fail for another reason than our guards. So here each family is let
// loose on the bare recipe, wasmtime with folders of the host and without the belt, and does its harm.

// bare runs a script as the plain recipe does.
type bare struct {
	program, image string
	memory         int64
	folders        []folder
	env            []string
}

type bareEnd struct {
	stdout, stderr string
	code           int
}

func newBare(t *testing.T) *bare {
	t.Helper()
	cache := preparedCache(t)
	m, err := readManifest(cache, DefaultImage)
	if err != nil {
		t.Fatal(err)
	}
	store, err := artifact.Open(cache)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b := &bare{memory: 4 << 30, env: environment()}
	for to, d := range map[*string]artifact.Digest{&b.program: m.Program, &b.image: m.Native} {
		if *to, err = store.Path(d); err != nil {
			t.Fatal(err)
		}
	}
	shared := t.TempDir()
	for _, name := range []string{"workspace/input", "workspace/output", "tmp", "control"} {
		if err := os.MkdirAll(filepath.Join(shared, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.folders = []folder{{filepath.Join(shared, "workspace"), workspaceFolder}, {filepath.Join(shared, "tmp"), tmpFolder}, {filepath.Join(shared, "control"), controlFolder}}
	return b
}

func (b *bare) run(t *testing.T, code string) bareEnd {
	t.Helper()
	frame, err := json.Marshal(request{code, 50_000, 512 << 10})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.program, runArgs(b.image, b.memory, b.folders)...)
	cmd.Env = b.env
	cmd.Stdin = bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return bareEnd{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func attackNamed(t *testing.T, name string) attack {
	t.Helper()
	for _, a := range attacks(t) {
		if a.name == name {
			return a
		}
	}
	t.Fatalf("no attack %s", name)
	return attack{}
}

func TestAttacksHarmTheBareRecipe(t *testing.T) {
	t.Run("a library that is a folder of the host", func(t *testing.T) {
		b := newBare(t)
		library := t.TempDir()
		if err := os.WriteFile(filepath.Join(library, "python315.zip"), []byte("the standard library"), 0o444); err != nil {
			t.Fatal(err)
		}
		b.folders = append(b.folders, folder{library, libraryFolder})
		before := inventory(t, library)
		b.run(t, "import os\nos.utime('/usr/local/lib/python315.zip', (1, 1))\nopen('/usr/local/lib/planted.pth', 'w').write('x')\nos.link('/usr/local/lib/python315.zip', '/usr/local/lib/hard')\n")
		if changes := compareInventories(before, inventory(t, library)); len(changes) < 3 {
			t.Errorf("the guest changed only %q", changes)
		}
	})
	t.Run("folders that two calls share", func(t *testing.T) {
		b := newBare(t)
		clean := b.run(t, sentinel)
		for _, name := range []string{"names", "library", "links"} {
			b.run(t, attackNamed(t, name).request.Code)
		}
		if after := b.run(t, sentinel); after.stdout == clean.stdout || clean.stdout == "" {
			t.Errorf("the sentinel sees no difference: %s%s", after.stdout, after.stderr)
		}
	})
	t.Run("links that the host follows", func(t *testing.T) {
		b := newBare(t)
		root := filepath.Dir(b.folders[0].host)
		if err := os.WriteFile(filepath.Join(root, "outside"), []byte("of the host"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.run(t, "import os\nos.symlink('../outside', '/workspace/l')\n")
		if data, err := os.ReadFile(filepath.Join(root, "workspace", "l")); string(data) != "of the host" {
			t.Errorf("%q %v", data, err)
		}
	})
	t.Run("files and bytes without a limit", func(t *testing.T) {
		b := newBare(t)
		end := b.run(t, "import os\nfor n in range(12_000): os.link('/tmp/a', f'/tmp/{n}') if n else open('/tmp/a', 'w').close()\nopen('/tmp/s', 'wb').truncate(1 << 40)\nprint(len(os.listdir('/tmp')))")
		if end.stdout != "12001\n" {
			t.Errorf("%+v", end)
		}
	})
	t.Run("a tree that no path reaches", func(t *testing.T) {
		b := newBare(t)
		if end := b.run(t, "import os\nfd = os.open('/tmp', os.O_RDONLY)\nfor n in range(300):\n    os.mkdir('d', dir_fd=fd); fd = os.open('d', os.O_RDONLY, dir_fd=fd)\nprint('deep')"); end.stdout != "deep\n" {
			t.Errorf("%+v", end)
		}
	})
	t.Run("memory beyond the limit", func(t *testing.T) {
		b := newBare(t)
		code := "try: x = b'x' * (700 << 20); print('took it')\nexcept MemoryError: print('refused')"
		if end := b.run(t, code); end.stdout != "took it\n" {
			t.Errorf("%+v", end)
		}
		b.memory = 512 << 20
		if end := b.run(t, code); end.stdout != "refused\n" {
			t.Errorf("with the limit: %+v", end)
		}
	})
	t.Run("a report that is believed", func(t *testing.T) {
		b := newBare(t)
		end := b.run(t, "import _sallyport.run as run\nopen('/.sallyport/report.json', 'w').write('{\"exit_code\": \"0\"}')\nrun._exit(0)")
		data, err := os.ReadFile(filepath.Join(b.folders[2].host, "report.json"))
		if end.code != 0 || err != nil || !strings.Contains(string(data), `"0"`) {
			t.Errorf("%+v %s %v", end, data, err)
		}
	})
	t.Run("the runtime's own words", func(t *testing.T) {
		b := newBare(t)
		for _, name := range []string{"abort-after-words", "crash"} {
			end := b.run(t, attackNamed(t, name).request.Code)
			if !strings.Contains(end.stderr, b.image) || !strings.Contains(end.stderr, "wasm") {
				t.Errorf("%s: the runtime does not name its image: %q", name, end.stderr)
			}
		}
	})
	t.Run("a status that a script chose", func(t *testing.T) {
		b := newBare(t)
		if end := b.run(t, attackNamed(t, "forge-words").request.Code); end.code != 1 || !strings.HasPrefix(end.stderr, "Error: failed deserialization") {
			t.Errorf("%+v", end)
		}
	})
	t.Run("output without an end", func(t *testing.T) {
		b := newBare(t)
		if end := b.run(t, "import sys\nfor _ in range(64): sys.stdout.write('A' * (1 << 20))"); len(end.stdout) != 64<<20 {
			t.Errorf("%d bytes", len(end.stdout))
		}
	})
}
