package confine

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	program, err := os.Executable()
	if err == nil {
		err = EnterUserNamespace(program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "note: private views are not tested:", err)
	}
	os.Exit(m.Run())
}
