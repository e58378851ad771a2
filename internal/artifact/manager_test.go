package artifact

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnsureThroughManagers(t *testing.T) {
	for _, kind := range []string{"pip", "uv"} {
		t.Run(kind, func(t *testing.T) {
			needManager(t, kind)
			x := useIndex(t)
			item, body := itemOf(t, "1.2")
			x.put(item.Filename, body)
			s := newStore(t)
			var steps []string
			got, err := s.Ensure(context.Background(), item, Source{Manager: kind}, func(step string, done, total int64) { steps = append(steps, step) })
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range item.Members {
				b, err := os.ReadFile(got.Paths[m.Path])
				if err != nil || sum(b) != m.SHA256 {
					t.Errorf("%s: %v, sha256 %s", m.Path, err, sum(b))
				}
			}
			if st, err := os.Stat(got.Paths["tiny_engine/program"]); err != nil || st.Mode().Perm() != 0o555 {
				t.Errorf("program: %v %v, want mode 0555: nobody may write it, and the belt may run it as another user", st.Mode(), err)
			}
			if len(steps) == 0 || !strings.Contains(steps[0], "tiny-engine 1.2") {
				t.Errorf("progress: %q", steps)
			}
			nothingStaged(t, s)
			before := x.hits.Load()
			if _, err := s.Ensure(context.Background(), item, Source{Manager: kind}, nil); err != nil {
				t.Fatal(err)
			}
			if x.hits.Load() != before {
				t.Error("a prepared item was fetched again")
			}
		})
	}
}

func TestEnsureRefusesAnotherFile(t *testing.T) {
	for _, kind := range []string{"pip", "uv"} {
		t.Run(kind, func(t *testing.T) {
			needManager(t, kind)
			x := useIndex(t)
			item, _ := itemOf(t, "1.2")
			x.put(item.Filename, wheelOf(t, "tiny-engine", "1.2", "py3-none-any", entry{"tiny_engine/program", "evil"}, entry{"tiny_engine/data.bin", "evil"}))
			s := newStore(t)
			_, err := s.Ensure(context.Background(), item, Source{Manager: kind}, nil)
			if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "--from") {
				t.Errorf("got %v, want a mismatch that says what to do", err)
			}
			if list, err := s.List(); err != nil || len(list) != 0 {
				t.Errorf("store holds %v (%v)", list, err)
			}
			nothingStaged(t, s)
		})
	}
}

// A download that is cut leaves nothing, and the same command works as soon as the index does.
func TestCutDownloadStartsClean(t *testing.T) {
	needManager(t, "pip")
	x := useIndex(t)
	item, body := itemOf(t, "1.2")
	x.put(item.Filename, body)
	x.serve = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		w.Header().Set("Content-Length", "100000")
		w.Write(body[:len(body)/2])
		return true
	}
	s := newStore(t)
	if _, err := s.Ensure(context.Background(), item, Source{Manager: "pip"}, nil); err == nil {
		t.Fatal("half a wheel was taken")
	}
	nothingStaged(t, s)
	x.mu.Lock()
	x.serve = nil
	x.mu.Unlock()
	if _, err := s.Ensure(context.Background(), item, Source{Manager: "pip"}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestInterruptEndsTheManager(t *testing.T) {
	needManager(t, "pip")
	x := useIndex(t)
	item, body := itemOf(t, "1.2")
	x.put(item.Filename, body)
	arrived, gone := make(chan struct{}), make(chan struct{})
	x.serve = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		close(arrived)
		<-r.Context().Done() // the connection of a killed downloader closes
		close(gone)
		return true
	}
	s := newStore(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("interrupted")
	go func() { <-arrived; cancel(stop) }()
	_, err := s.Ensure(ctx, item, Source{Manager: "pip"}, nil)
	if !errors.Is(err, stop) || !strings.Contains(err.Error(), "again") {
		t.Errorf("got %v", err)
	}
	<-gone
	nothingStaged(t, s)
	unlock, err := s.Lock(context.Background(), "fetch", nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestNoManager(t *testing.T) {
	useIndex(t)
	t.Setenv("PATH", privateDir(t))
	s := newStore(t)
	item, _ := itemOf(t, "1.2")
	_, err := s.Ensure(context.Background(), item, Source{}, nil)
	if !errors.Is(err, ErrNoPip) || !strings.Contains(err.Error(), "setup --from") {
		t.Errorf("got %v, want what to do without pip and uv", err)
	}
}

func TestUnreachableIndex(t *testing.T) {
	for _, kind := range []string{"pip", "uv"} {
		t.Run(kind, func(t *testing.T) {
			needManager(t, kind)
			useIndex(t)
			t.Setenv("PIP_INDEX_URL", "http://someone:hunter2@127.0.0.1:1/simple/")
			t.Setenv("UV_DEFAULT_INDEX", "http://someone:hunter2@127.0.0.1:1/simple/")
			s := newStore(t)
			item, _ := itemOf(t, "1.2")
			_, err := s.Ensure(context.Background(), item, Source{Manager: kind}, nil)
			if !errors.Is(err, ErrOffline) || !strings.Contains(err.Error(), "tiny-engine==1.2") {
				t.Errorf("got %v, want the command that shows the trouble", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the index's password stands in the error: %v", err)
			}
		})
	}
}

// fakeManager puts a program named python3 first on PATH.
func fakeManager(t *testing.T, script string) {
	t.Helper()
	if os.PathSeparator != '/' {
		t.Skip("needs a POSIX shell")
	}
	dir := privateDir(t)
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\ncase \"$*\" in *--version) exit 0;; esac\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+"/usr/bin"+string(os.PathListSeparator)+"/bin")
}

func TestManagersWords(t *testing.T) {
	for _, c := range []struct {
		name, says string
		want       error
		hint       string
	}{
		{"disk", "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", ErrNoSpace, "free some space"},
		{"hash", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", ErrMismatch, "--from"},
		{"certificate", "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", ErrOffline, "PIP_CERT"},
		{"absent", "ERROR: No matching distribution found for tiny-engine==1.2", ErrOffline, "mirror"},
		{"other", "Traceback: boom", ErrOffline, "--from"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeManager(t, "echo \""+strings.ReplaceAll(c.says, "\"", "")+"\" >&2; exit 1\n")
			s := newStore(t)
			item, _ := itemOf(t, "1.2")
			_, err := s.Ensure(context.Background(), item, Source{Manager: "pip"}, nil)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.hint) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.hint)
			}
		})
	}
}

// A manager that succeeds is not believed.
func TestManagerThatLies(t *testing.T) {
	s := newStore(t)
	item, _ := itemOf(t, "1.2")
	fakeManager(t, `while [ $# -gt 0 ]; do [ "$1" = --dest ] && printf evil > "$2/`+item.Filename+`"; shift; done`+"\n")
	_, err := s.Ensure(context.Background(), item, Source{Manager: "pip"}, nil)
	if !errors.Is(err, ErrMismatch) {
		t.Errorf("got %v, want a mismatch", err)
	}
	fakeManager(t, "exit 0\n")
	if _, err := s.Ensure(context.Background(), item, Source{Manager: "pip"}, nil); err == nil {
		t.Error("nothing at all was taken for a wheel")
	}
}
