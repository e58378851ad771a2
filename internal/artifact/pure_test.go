package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPins(t *testing.T) {
	for pin, want := range map[string]string{
		"humanize==4.13.0":                "humanize 4.13.0",
		"Zope.Interface==1.0rc1":          "zope-interface 1.0rc1",
		"certifi==2024.07.04":             "certifi 2024.07.04",
		"a__b==1!2.0.post1.dev3":          "a-b 1!2.0.post1.dev3",
		"x==1.0+local.1":                  "x 1.0+local.1",
		"x":                               "",
		"x>=1":                            "",
		"x===1.0":                         "",
		"x==1.*":                          "",
		"x==1.0,<2":                       "",
		"x[extra]==1.0":                   "",
		"x==1.0; python_version>3":        "",
		" x==1.0":                         "",
		"x==1.0 ":                         "",
		"x==1.0\n--index-url=http://evil": "",
		"--index-url=http://evil==1":      "",
		"-r==1":                           "",
		"x @ http://evil/x.whl":           "",
		"./x==1":                          "",
		"git+https://evil/x==1":           "",
		"x==1.0 --hash=sha256:0":          "",
		"==1.0":                           "",
		"x==":                             "",
		"х==1.0":                          "", // Cyrillic
		strings.Repeat("x", 200) + "==1":  "",
	} {
		p, v, err := parsePin(pin)
		got := ""
		if err == nil {
			got = p + " " + v
		}
		if got != want {
			t.Errorf("%q: got %q (%v), want %q", pin, got, err, want)
		}
	}
}

func TestVersionsThatAreTheSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1.0", "1.0.0", true}, {"2024.07.04", "2024.7.4", true}, {"1.0rc1", "1.0.0rc1", true}, {"1.10", "1.1", false},
		{"10.0", "1", false}, {"1.0.post1", "1.post1", true}, {"1.0+a", "1.0", false}, {"0!1.0", "1", true}, {"1.0.1", "1.1", false}, {"0.0", "0", true},
	} {
		if sameVersion(c.a, c.b) != c.same {
			t.Errorf("%s and %s: want %v (%s, %s)", c.a, c.b, c.same, normalVersion(c.a), normalVersion(c.b))
		}
	}
}

func FuzzPin(f *testing.F) {
	f.Add("humanize==4.13.0")
	f.Add("x==1.0\n--index-url=http://evil")
	f.Fuzz(func(t *testing.T, pin string) {
		p, v, err := parsePin(pin)
		if err != nil {
			return
		}
		line := (pick{project: p, version: v}).requirement()
		if strings.Count(line, "\n") != 1 || strings.ContainsAny(line, " ;@[]#\\,<>*$\t\r") || strings.HasPrefix(line, "-") {
			t.Errorf("%q became the requirement %q", pin, line)
		}
	})
}

func extras(t *testing.T) []byte {
	return wheelOf(t, "small-thing", "2.0", "py3-none-any",
		entry{"small_thing/__init__.py", "x = 1\n"}, entry{"small_thing/data/table.csv", "1,2\n"}, entry{"other.py", ""}, entry{"_private.py", ""},
		entry{"small_thing-2.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small-thing\nVersion: 2.0\nRequires-Dist: Typing_Extensions>=4\nRequires-Dist: numpy\nRequires-Dist: pytest ; extra == 'test'\nRequires-Dist: tomli ; python_version < '3.11'\n\nRequires-Dist: not-this-one\n"},
		entry{"small_thing-2.0.dist-info/entry_points.txt", "[console_scripts]\nsmall = small_thing:main\n"})
}

// pip leaves a wheel, uv a folder with files of its own; both give the same archive.
func TestResolveIsTheSameWithPipAndUv(t *testing.T) {
	var digests []Digest
	for _, kind := range []string{"pip", "uv"} {
		t.Run(kind, func(t *testing.T) {
			needManager(t, kind)
			x := useIndex(t)
			x.put("small_thing-2.0-py3-none-any.whl", extras(t))
			s := newStore(t)
			p, err := s.ResolvePyPI(context.Background(), "Small.Thing==2.0", Source{Manager: kind}, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if p.Project != "small-thing" || !slices.Equal(p.Modules, []string{"_private", "other", "small_thing"}) {
				t.Errorf("got %+v", p)
			}
			var need []string
			for _, r := range Missing([]Pure{p}, func(n string) bool { return n == "numpy" }) {
				need = append(need, r.Text)
			}
			if !slices.Equal(need, []string{"Typing_Extensions>=4", "tomli ; python_version < '3.11'"}) {
				t.Errorf("missing %q", need)
			}
			digests = append(digests, p.Archive)
			nothingStaged(t, s)
			hits := x.hits.Load()
			if _, err := s.ResolvePyPI(context.Background(), "small-thing==2.0.0", Source{Manager: kind}, "", nil); err != nil || x.hits.Load() != hits {
				t.Errorf("second use: %v, %d downloads", err, x.hits.Load()-hits)
			}
		})
	}
	if len(digests) == 2 && digests[0] != digests[1] {
		t.Errorf("pip gives %s, uv %s", digests[0], digests[1])
	}
}

// A pure wheel beside a native one of the same version is found by both.
func TestPureBesideNative(t *testing.T) {
	for _, kind := range []string{"pip", "uv"} {
		t.Run(kind, func(t *testing.T) {
			needManager(t, kind)
			x := useIndex(t)
			x.put("small_thing-2.0-py3-none-any.whl", extras(t))
			for _, plat := range []string{"manylinux_2_17_x86_64", "manylinux_2_17_aarch64", "macosx_11_0_arm64", "macosx_10_9_x86_64", "win_amd64", "win_arm64"} {
				x.put("small_thing-2.0-cp313-cp313-"+plat+".whl", wheelOf(t, "small-thing", "2.0", "cp313-cp313-"+plat, entry{"small_thing/_x.so", "x"}))
			}
			p, err := newStore(t).ResolvePyPI(context.Background(), "small-thing==2.0", Source{Manager: kind}, "", nil)
			if err != nil || !slices.Contains(p.Modules, "other") {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// What was recorded at first use must come again, on this machine and on another with the same file.
func TestRecordedPackageThatChanges(t *testing.T) {
	for _, kind := range []string{"pip", "uv"} {
		t.Run(kind, func(t *testing.T) {
			needManager(t, kind)
			x := useIndex(t)
			x.put("small_thing-2.0-py3-none-any.whl", extras(t))
			pins := filepath.Join(privateDir(t), "pins.json")
			ctx := context.Background()
			if _, err := newStore(t).ResolvePyPI(ctx, "small-thing==2.0", Source{Manager: kind}, pins, nil); err != nil {
				t.Fatal(err)
			}
			x.put("small_thing-2.0-py3-none-any.whl", wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing/__init__.py", "evil = 1\n"}))
			s := newStore(t)
			if _, err := s.ResolvePyPI(ctx, "small-thing==2.0", Source{Manager: kind}, pins, nil); !errors.Is(err, ErrMismatch) {
				t.Errorf("got %v, want a mismatch", err)
			}
			if list, _ := s.List(); len(list) != 0 {
				t.Errorf("store holds %v", list)
			}
		})
	}
}

func TestPackagesThatAreNotPure(t *testing.T) {
	info := "small_thing-2.0.dist-info/"
	for name, body := range map[string][]byte{
		"so":           wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing/_x.cpython-313-x86_64-linux-gnu.so", "x"}),
		"versioned so": wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing.libs/libx.so.1.2", "x"}),
		"pyd":          wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing/_x.PYD", "x"}),
		"dylib":        wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"a.dylib", "x"}),
		"dll":          wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"a.dll", "x"}),
		"hidden ELF":   wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing/data.txt", "\x7fELF\x02\x01"}),
		"native tag":   wheelOf(t, "small-thing", "2.0", "cp313-cp313-manylinux_2_17_x86_64", entry{"small_thing/__init__.py", ""}),
		"not purelib":  wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{info + "WHEEL", "Root-Is-Purelib: false\nTag: py3-none-any\n"}),
		"no tag":       wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{info + "WHEEL", "Root-Is-Purelib: true\n"}),
		"data":         wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing-2.0.data/data/etc/passwd", "x"}),
		"two packages": wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"other-1.dist-info/WHEEL", "x"}),
	} {
		dir := privateDir(t)
		if err := os.WriteFile(filepath.Join(dir, "x.whl"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		s := newStore(t)
		if p, err := s.ResolvePyPI(context.Background(), "small-thing==2.0", Source{From: dir}, "", nil); err == nil {
			t.Errorf("%s: taken as %+v", name, p)
		}
		if list, _ := s.List(); len(list) != 0 {
			t.Errorf("%s: store holds %v", name, list)
		}
		nothingStaged(t, s)
	}
}

func TestResolveFromFolder(t *testing.T) {
	dir := privateDir(t)
	for name, body := range map[string][]byte{
		"a-1-py3-none-any.whl": wheelOf(t, "unrelated", "1", "cp313-cp313-linux_x86_64"),
		"stdlib.zip":           zipOf(t, entry{"os.py", ""}),
		"notes.txt":            []byte("hello"),
		"wrong-name.whl":       extras(t),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newStore(t)
	if p, err := s.ResolvePyPI(context.Background(), "small-thing==2.0", Source{From: dir}, "", nil); err != nil || p.Wheel != sum(extras(t)) {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := s.ResolvePyPI(context.Background(), "small-thing==2.1", Source{From: dir}, "", nil); !errors.Is(err, ErrMissing) {
		t.Errorf("another version: %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "pypi.lock.json"), []byte(`{"packages":[{"project":"x"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ResolvePyPI(context.Background(), "small-thing==2.0", Source{From: dir}, "", nil); err == nil || !strings.Contains(err.Error(), "pypi.lock.json") {
		t.Errorf("broken record: %v", err)
	}
}
