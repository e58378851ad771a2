package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestToken(t *testing.T) {
	const text = "correct-horse-battery"
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(text+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile, err := ReadToken(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_TOKEN", text)
	fromEnv, err := TakeToken("TEST_TOKEN")
	if err != nil {
		t.Fatal(err)
	}
	if fromFile != fromEnv {
		t.Error("the same token read twice differs")
	}
	if _, ok := os.LookupEnv("TEST_TOKEN"); ok {
		t.Error("the token is still in the environment")
	}
	if _, err := TakeToken("TEST_TOKEN"); err == nil {
		t.Error("a variable that is not set was taken")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if shown := fmt.Sprintf(verb, fromFile); strings.Contains(shown, text) {
			t.Errorf("%s shows the token", verb)
		}
	}
	for _, bad := range []string{"", "short", strings.Repeat("x", 5000), "with a space in it!", "umlaut-ä-and-more", "line\nbreak-inside-it"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadToken(path); err == nil || (bad != "" && strings.Contains(err.Error(), bad)) {
			t.Errorf("%.20q: got %v", bad, err)
		}
	}
}
