package confine

import (
	"fmt"
	"os"
	"testing"
)

// probeFolder is where the attack program is built, once.
var probeFolder string

func TestMain(m *testing.M) {
	if role := os.Getenv("CONFINE_TEST_ROLE"); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	program, err := os.Executable()
	if err == nil {
		err = EnterUserNamespace(program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "note: private views are not tested:", err)
	}
	probeFolder, err = os.MkdirTemp("", "confine-probe-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Chmod(probeFolder, 0o711)
	code := m.Run()
	os.RemoveAll(probeFolder)
	os.Exit(code)
}
