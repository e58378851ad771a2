package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

const (
	denoVersion    = "2.9.6"
	pyodideVersion = "314.0.7"
)

//go:embed plain.mjs
var plainRunner []byte

// openPlain boots Deno and Pyodide for each call, with one readable folder as the whole grant. The npm
// package of Pyodide has no wheels, so only scripts of the standard library run here.
func openPlain(ctx context.Context, progress io.Writer, o options) (rival, []version, error) {
	folder := filepath.Join(o.work, "plain")
	platform, ok := denoPackage()
	if !ok {
		return nil, nil, &missing{fmt.Sprintf("npm has no Deno for %s/%s", runtime.GOOS, runtime.GOARCH)}
	}
	deno, pyodide := platform+"@"+denoVersion, "pyodide@"+pyodideVersion
	// The package of the platform is the program itself, so no script of a package has to run.
	k := kit{folder: folder, mark: deno + "\n" + pyodide, steps: [][]string{
		{"npm", "install", "--prefix", folder, "--no-fund", "--no-audit", "--ignore-scripts", deno, pyodide},
	}}
	if err := k.ready(ctx, progress, o.install); err != nil {
		return nil, nil, err
	}
	program := "deno"
	if runtime.GOOS == "windows" {
		program = "deno.exe"
	}
	program = filepath.Join(folder, "node_modules", filepath.FromSlash(platform), program)
	runner := filepath.Join(folder, "plain.mjs")
	if err := os.WriteFile(runner, plainRunner, 0o600); err != nil {
		return nil, nil, err
	}
	empty := filepath.Join(folder, "empty")
	if err := os.MkdirAll(empty, 0o700); err != nil {
		return nil, nil, err
	}
	p := &oneshot{
		name:    "plain",
		program: program,
		args: []string{
			"run", "--no-prompt", "--no-remote", "--cached-only", "--no-config", "--no-lock",
			"--allow-read=" + filepath.Join(folder, "node_modules"), runner,
		},
		env:  []string{"DENO_DIR=" + filepath.Join(folder, "deno"), "NO_COLOR=1", "DENO_NO_UPDATE_CHECK=1"},
		work: empty,
	}
	return p, []version{{"plain", "deno", denoVersion}, {"plain", "pyodide", pyodideVersion}}, nil
}

func denoPackage() (string, bool) {
	names := map[string]string{
		"linux/amd64":   "@deno/linux-x64-glibc",
		"linux/arm64":   "@deno/linux-arm64-glibc",
		"darwin/amd64":  "@deno/darwin-x64",
		"darwin/arm64":  "@deno/darwin-arm64",
		"windows/amd64": "@deno/win32-x64",
	}
	name, ok := names[runtime.GOOS+"/"+runtime.GOARCH]
	return name, ok
}
