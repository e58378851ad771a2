package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// openNative is bare CPython with the packages in the versions that our image has, as far as they are
// to be had for the Python that is here. It has no sandbox, and uses all processors and their vector units.
func openNative(ctx context.Context, progress io.Writer, o options) (rival, []version, error) {
	k := venv(o, "native", "numpy==2.4.6", "pandas==3.0.6", "matplotlib==3.11.2")
	if err := k.ready(ctx, progress, o.install); err != nil {
		return nil, nil, err
	}
	n, err := nativeFrom(venvPython(k.folder), o.work)
	if err != nil {
		return nil, nil, err
	}
	n.packages = true
	versions, err := ask(ctx, "native", n.env, n.program, "-I", "-c", `import sys, numpy, pandas, matplotlib
print("python", sys.version.split()[0])
for m in numpy, pandas, matplotlib: print(m.__name__, m.__version__)`)
	return n, versions, err
}

// nativeFrom is an interpreter in a constant environment. So the machine's OPENBLAS_CORETYPE, which some
// hosts set for old packages, does not slow it.
func nativeFrom(python, work string) (*oneshot, error) {
	home := filepath.Join(work, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	env := []string{"HOME=" + home, "MPLCONFIGDIR=" + filepath.Join(home, "matplotlib"), "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root) // Windows programs do not start without it
	}
	return &oneshot{name: "native", program: python, args: []string{"-I", "-"}, env: env, work: home}, nil
}
