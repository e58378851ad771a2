package confine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// enter is the test program as an ordinary user's server.
func enter(spec Spec, what string) int {
	self, err := os.Executable()
	if err == nil {
		err = EnterUserNamespace(self)
	}
	if err != nil {
		fmt.Println("stays outside:", err)
		return 4
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	belt, err := Prepare(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer belt.Close()
	fmt.Println("inside", os.Geteuid(), belt.Report().Holds(fenceView))
	switch what {
	case "exit":
		input, _ := io.ReadAll(os.Stdin)
		fmt.Println(string(input))
		return 7
	case "wait":
		<-terminated
		return 9
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	}
	return 0
}

func TestEnterUserNamespace(t *testing.T) {
	if !chooseIdentity().change {
		t.Skip("needs root of the host, to become an ordinary user; the tests of an ordinary user run inside anyway")
	}
	program := attackProgram(t)
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	// Where the test program lies, another user may not enter.
	dir := openDir(t)
	copied := filepath.Join(dir, "program")
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		t.Fatal(err)
	}
	start := func(t *testing.T, what, token string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
		t.Helper()
		folder := filepath.Join(dir, what)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(folder, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		command := actor(t, "enter", program, folder, what, token)
		command.Path = copied
		command.Dir = "/"
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
		in, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		if strings.HasPrefix(line, "stays outside") {
			command.Wait()
			t.Skip(line)
		}
		if line != "inside 0 true\n" {
			t.Fatalf("%q", line)
		}
		return command, in, lines
	}
	t.Run("exit", func(t *testing.T) {
		command, in, out := start(t, "exit", "x")
		io.WriteString(in, "from outside")
		in.Close()
		rest, _ := io.ReadAll(out)
		if code := exitStatus(command.Wait()); code != 7 || string(rest) != "from outside\n" {
			t.Errorf("%d %q", code, rest)
		}
	})
	t.Run("signal", func(t *testing.T) {
		command, _, _ := start(t, "wait", "x")
		command.Process.Signal(syscall.SIGTERM)
		if code := exitStatus(command.Wait()); code != 9 {
			t.Errorf("%d", code)
		}
	})
	t.Run("death inside", func(t *testing.T) {
		command, _, _ := start(t, "die", "x")
		if code := exitStatus(command.Wait()); code != 128+9 {
			t.Errorf("%d", code)
		}
	})
	t.Run("death outside", func(t *testing.T) {
		token := fmt.Sprintf("confine-enter-%d", os.Getpid())
		os.RemoveAll(filepath.Join(dir, "wait"))
		command, _, _ := start(t, "wait", token)
		if len(withArgument(token)) != 2 {
			t.Errorf("%v, want the two processes", withArgument(token))
		}
		command.Process.Kill()
		command.Wait()
		eventually(t, "the second process ends with the first", func() bool { return len(withArgument(token)) == 0 })
	})
}
