package cli

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/python"
)

// secretly is an engine kit that, when opened, says what a thief would find in the process.
type secretly struct{ echoKit }

func (k *secretly) Open(_ context.Context, s Settings, _ *slog.Logger) (python.Engine, error) {
	environ, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return nil, err
	}
	parent, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	if err != nil {
		parent = []byte("unreadable")
	}
	pipes, err := pipes()
	if err != nil {
		return nil, err
	}
	for _, known := range strings.Split(s.Cache, ",") {
		delete(pipes, known)
	}
	fmt.Printf("environ=%q lookup=%q token=%q engine=%q pipes=%q parent-has-secret=%v parent-is-us=%v\n", environ, os.Getenv("SECRET"), s.Token, s.Engine,
		fmt.Sprint(len(pipes)), strings.Contains(string(parent), "hunter2"), strings.Contains(readComm(os.Getppid()), readComm(os.Getpid())))
	return k.engine, nil
}

// pipes are those that this process has open beside its standard streams.
func pipes() (map[string]bool, error) {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, fd := range open {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(target, "pipe:") && fd.Name() > "2" {
			found[target] = true
		}
	}
	return found, nil
}

func readComm(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(raw))
}

// TestSealedProcess starts this test binary as the program, and looks at what is left to steal.
func TestSealedProcess(t *testing.T) {
	// What whoever runs the tests left open is inherited, and no leak of ours.
	inherited, err := pipes()
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Sorted(maps.Keys(inherited))
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "python", "--http", "127.0.0.1:0", "--token-env", "SECRET", "--engine", "echo",
		"--cache", "/nowhere,"+strings.Join(known, ","))
	cmd.Args[0] = programName
	cmd.Env = []string{"SECRET=hunter2-hunter2-hunter2", "HOME=/nonexistent"}
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{`environ=""`, `lookup=""`, `token="hunter2-hunter2-hunter2"`, `engine="echo"`, `pipes="0"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
	// An ordinary user's server has a parent that waits for it; that one must be clean as well.
	if strings.Contains(text, "parent-has-secret=true parent-is-us=true") {
		t.Errorf("the process that waits still holds the secret:\n%s", text)
	}
}

const programName = "sallyport-sealed-test"

// TestMain makes the test binary a small sallyport when it is started under that name.
func TestMain(m *testing.M) {
	if os.Args[0] != programName {
		os.Exit(m.Run())
	}
	executable, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the server ends as soon as it has started
	p := &Program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: processEnvironment(), Args: os.Args, Executable: executable,
		Engines: []Kit{&secretly{echoKit{engine: &echo{limits: make(chan python.Limits, 1)}}}},
		Seal:    sealer{executable: executable, args: os.Args},
	}
	os.Exit(p.Run(ctx, os.Args[1:]))
}
