package confine

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A program is an ELF executable with what its loader opens before main.
type program struct {
	path        string    // resolved
	interpreter string    // as the program names it; empty for a static program
	libraries   []library // in no order
}

// A library is shown to the program twice where that differs: in the folder where the host's
// loader finds it, and in the folder of the C library, which every loader searches without the
// cache file of the host.
type library struct {
	name string // as the program names it
	dir  string // where it was found
	file string // resolved
}

// findProgram reads the program and its libraries. Nothing is executed: asking the loader
// itself would run a program of the host outside the belt.
func findProgram(path string) (program, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return program{}, fmt.Errorf("finding program: %w", err)
	}
	p := program{path: resolved}
	dirs := loaderFolders()
	queue := []string{resolved}
	seen := map[string]bool{}
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		needed, interpreter, runpath, err := readELF(file)
		if err != nil {
			return program{}, fmt.Errorf("reading %s: %w", filepath.Base(file), err)
		}
		if file == resolved {
			p.interpreter = interpreter
		}
		for _, name := range needed {
			if seen[name] {
				continue
			}
			seen[name] = true
			lib, ok := findLibrary(name, append(slices.Clone(runpath), dirs...))
			if !ok {
				// musl answers some names by itself; a name that is really missing is
				// reported by the loader, inside the belt.
				continue
			}
			p.libraries = append(p.libraries, lib)
			queue = append(queue, lib.file)
		}
	}
	return p, nil
}

func readELF(path string) (needed []string, interpreter string, runpath []string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, "", nil, err
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != machine() {
		return nil, "", nil, fmt.Errorf("%s %s is not what this host runs", f.Class, f.Machine)
	}
	for _, segment := range f.Progs {
		if segment.Type != elf.PT_INTERP || segment.Filesz > 4096 {
			continue
		}
		name := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(name, 0); err != nil {
			return nil, "", nil, err
		}
		interpreter = strings.TrimRight(string(name), "\x00")
		if !filepath.IsAbs(interpreter) {
			return nil, "", nil, errors.New("the program interpreter is not an absolute path")
		}
	}
	needed, err = f.DynString(elf.DT_NEEDED)
	if err != nil {
		// A static program has no dynamic section.
		return nil, interpreter, nil, nil
	}
	origin := filepath.Dir(path)
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, _ := f.DynString(tag)
		for _, value := range values {
			for dir := range strings.SplitSeq(value, ":") {
				dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir)
				if filepath.IsAbs(dir) {
					runpath = append(runpath, filepath.Clean(dir))
				}
			}
		}
	}
	return needed, interpreter, runpath, nil
}

func machine() elf.Machine {
	switch runtime.GOARCH {
	case "amd64":
		return elf.EM_X86_64
	case "arm64":
		return elf.EM_AARCH64
	}
	return elf.EM_NONE
}

func findLibrary(name string, dirs []string) (library, bool) {
	if strings.Contains(name, "/") {
		dirs, name = []string{filepath.Dir(name)}, filepath.Base(name)
	}
	for _, dir := range dirs {
		file, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		f, err := elf.Open(file)
		if err != nil {
			continue
		}
		fits := f.Class == elf.ELFCLASS64 && f.Machine == machine()
		f.Close()
		if fits {
			return library{name: name, dir: dir, file: file}, true
		}
	}
	return library{}, false
}

// loaderFolders are the folders that the loaders of the usual systems search.
func loaderFolders() []string {
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	dirs := []string{
		"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
	}
	seen := map[string]bool{}
	return append(dirs, configuredFolders("/etc/ld.so.conf", seen)...)
}

func configuredFolders(file string, seen map[string]bool) []string {
	if seen[file] || len(seen) > 100 {
		return nil
	}
	seen[file] = true
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var dirs []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "include "); ok {
			pattern = strings.TrimSpace(pattern)
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(file), pattern)
			}
			files, _ := filepath.Glob(pattern)
			for _, included := range files {
				dirs = append(dirs, configuredFolders(included, seen)...)
			}
		} else if filepath.IsAbs(line) {
			dirs = append(dirs, line)
		}
	}
	return dirs
}

// A bind shows one host file or folder at a place in the child's view.
type bind struct {
	source string // resolved host path
	target string // absolute in the private view
	folder bool
	exec   bool // may be executed: the program and its interpreter
}

// binds lists what the child may see: the program, what its loader opens, and the named entries.
// names gives the place of each named entry in the view.
func (p program) binds(readOnly map[string]string) (list []bind, names map[string]string, err error) {
	names = map[string]string{programName: "/" + programName}
	list = append(list, bind{source: p.path, target: names[programName], exec: true})
	if p.interpreter != "" {
		file, err := filepath.EvalSymlinks(p.interpreter)
		if err != nil {
			return nil, nil, fmt.Errorf("finding program interpreter: %w", err)
		}
		list = append(list, bind{source: file, target: filepath.Clean(p.interpreter), exec: true})
	}
	home := "/lib"
	for _, lib := range p.libraries {
		if strings.HasPrefix(lib.name, "libc.so") || strings.HasPrefix(lib.name, "libc.musl") {
			home = lib.dir
		}
	}
	taken := map[string]bool{}
	for _, b := range list {
		taken[b.target] = true
	}
	for _, lib := range p.libraries {
		for _, dir := range []string{lib.dir, home} {
			target := filepath.Join(dir, lib.name)
			if !taken[target] {
				taken[target] = true
				list = append(list, bind{source: lib.file, target: target})
			}
		}
	}
	for name, path := range readOnly {
		file, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, nil, fmt.Errorf("finding %s: %w", name, err)
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, nil, fmt.Errorf("finding %s: %w", name, err)
		}
		// A socket, device or pipe would be a door, not a file.
		if !info.IsDir() && !info.Mode().IsRegular() {
			return nil, nil, fmt.Errorf("finding %s: it is neither a file nor a folder but %s", name, fs.FormatFileInfo(info)[:1])
		}
		names[name] = "/files/" + name
		list = append(list, bind{source: file, target: names[name], folder: info.IsDir()})
	}
	return list, names, nil
}
