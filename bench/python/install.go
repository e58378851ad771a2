package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A kit is what a rival needs, in a folder of its own. It is installed once; the mark is written last, so
// that a broken installation is made anew.
type kit struct {
	folder string
	mark   string // content of the mark: the versions asked for
	steps  [][]string
}

func (k kit) ready(ctx context.Context, progress io.Writer, install bool) error {
	mark := filepath.Join(k.folder, "installed")
	if raw, err := os.ReadFile(mark); err == nil && string(raw) == k.mark {
		return nil
	}
	if !install {
		return &missing{"it is not installed, and -install=false was given"}
	}
	if err := os.RemoveAll(k.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(k.folder, 0o700); err != nil {
		return err
	}
	for _, step := range k.steps {
		if _, err := exec.LookPath(step[0]); err != nil {
			return &missing{step[0] + " is not here, which would install it"}
		}
		fmt.Fprintln(progress, "  ", strings.Join(step, " "))
		// With our environment: package managers keep their index, proxy and certificates there.
		cmd := exec.CommandContext(ctx, step[0], step[1:]...)
		cmd.Dir = k.folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return &missing{fmt.Sprintf("installing it: %v: %s", err, tail(string(out)))}
		}
	}
	return os.WriteFile(mark, []byte(k.mark), 0o600)
}

// venv is a kit with a virtual environment of the given packages. It gets no pip of its own: what pip
// puts beside itself would slow the start of the interpreter that we measure.
func venv(o options, name string, packages ...string) kit {
	folder := filepath.Join(o.work, name)
	return kit{folder: folder, mark: o.python + "\n" + strings.Join(packages, "\n"), steps: [][]string{
		{o.python, "-m", "venv", "--without-pip", folder},
		append([]string{o.python, "-m", "pip", "--python", venvPython(folder), "install", "--quiet"}, packages...),
	}}
}

func venvPython(folder string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(folder, "Scripts", "python.exe")
	}
	return filepath.Join(folder, "bin", "python3")
}

// ask runs a program that prints "part version" lines.
func ask(ctx context.Context, rival string, env []string, program string, args ...string) ([]version, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking for versions: %w", err)
	}
	var all []version
	for line := range strings.Lines(string(out)) {
		if part, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, version{rival, part, v})
		}
	}
	return all, nil
}
