package wasm

import (
	"path"
	"strconv"
)

// The folders that a guest sees, in the order of their descriptors. The image remembers nothing
// of them but these names.
const (
	workspaceFolder = "/workspace"
	tmpFolder       = "/tmp"
	controlFolder   = "/.sallyport"
)

// maxStack bounds the native stack of the guest's code. CPython's own stack has 16 MiB; the
// machine code that runs it needs several times as much before CPython raises RecursionError.
const maxStack = 256 << 20

// codegen are the options that must be the same when compiling and when running.
//
// Unwind tables and address maps only serve backtraces of machine code, which nobody gets to see;
// without them a start is several milliseconds faster.
func codegen() []string {
	return []string{
		"-W", "exceptions=y",
		"-C", "cache=n",
		"-C", "native-unwind-info=n",
		"-D", "address-map=n",
		"-D", "symbols=n",
	}
}

// compileArgs make image from module.
func compileArgs(module, image string) []string {
	return append(append([]string{"compile"}, codegen()...), module, "-o", image)
}

// folder is a preopened folder: a path in the process's view and its name for the guest.
type folder struct{ host, guest string }

// runArgs start an image. memory bounds the guest's linear memory in bytes.
func runArgs(image string, memory int64, folders []folder) []string {
	args := append([]string{"run", "--allow-precompiled"}, codegen()...)
	args = append(args,
		"-W", "unknown-imports-default=y", // the one import that is no part of WASI is never called
		"-W", "max-wasm-stack="+strconv.Itoa(maxStack),
		"-W", "max-memory-size="+strconv.FormatInt(memory, 10),
		// What one call of the guest may make the host allocate. A read or write of the guest's
		// own memory is never larger than that memory, and the belt bounds both together.
		"-S", "hostcall-fuel="+strconv.FormatInt(memory, 10),
		"-S", "inherit-network=n,tcp=n,udp=n,allow-ip-name-lookup=n",
		"-S", "http=n",
	)
	for _, f := range folders {
		args = append(args, "--dir", f.host+"::"+f.guest)
	}
	return append(args, image)
}

// guestFolders maps the scratch folders of a box to what the guest sees.
func guestFolders(scratch, control string) []folder {
	return []folder{
		{path.Join(scratch, "workspace"), workspaceFolder},
		{path.Join(scratch, "tmp"), tmpFolder},
		{control, controlFolder},
	}
}

// environment is all that a runtime process gets. Backtraces stay off: they cost milliseconds on
// each refused file and would name paths. HOME must exist for the runtime to start.
func environment() []string {
	return []string{"HOME=/nonexistent", "RUST_BACKTRACE=0", "RUST_LIB_BACKTRACE=0"}
}

// guestEnvironment is what scripts find in os.environ; it is part of the image.
func guestEnvironment() []string {
	return []string{
		"HOME=/workspace", "USER=agent", "LOGNAME=agent", "TZ=UTC", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		"TMPDIR=/tmp", "PYTHONTZPATH=", "MPLBACKEND=agg", "MPLCONFIGDIR=/tmp/matplotlib", "PATH=/usr/local/bin",
		"JOBLIB_MULTIPROCESSING=0", "OMP_NUM_THREADS=1",
	}
}
