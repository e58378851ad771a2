package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Spec says which program is confined, what it sees and how much it may use.
type Spec struct {
	// Program is the host path of an ELF executable. Its interpreter and the libraries that it
	// needs are found and shown to it read-only.
	Program string

	// ReadOnly maps a name to a host file or folder that the program may read. On Linux it can
	// change neither contents nor names, times, modes or attributes, also when it runs as the owner.
	ReadOnly map[string]string

	// Scratch are private, empty, writable folders.
	Scratch []Scratch

	Limits Limits

	// Runtime is a host folder for scratch where no private view can be had. It is made if it
	// is missing, with mode 0700. Empty means a folder of our own below the system's temporary
	// folder.
	Runtime string

	// AllowWeaker is the operator's word that a missing fence is acceptable. Without it a
	// missing fence is an [Unavailable] error.
	AllowWeaker bool
}

// Scratch is one private writable folder. Zero limits are refused: an unbounded folder is never
// what is meant.
type Scratch struct {
	Name  string
	Bytes int64
	Files int // files and folders together
}

// Limits bound one process. Zero means the default that stands beside the field.
type Limits struct {
	Memory    int64         // resident bytes of the process; 2 GiB
	CPU       time.Duration // processor time; 10 minutes
	OpenFiles int           // descriptors; 256
	FileSize  int64         // bytes of one file; the largest scratch folder and a little
	Threads   int           // 64
}

func (s Spec) limits() Limits {
	l := s.Limits
	if l.Memory == 0 {
		l.Memory = 2 << 30
	}
	if l.CPU == 0 {
		l.CPU = 10 * time.Minute
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = 256
	}
	if l.Threads == 0 {
		l.Threads = 64
	}
	if l.FileSize == 0 {
		for _, folder := range s.Scratch {
			// A little more, so that a full folder says so (ENOSPC) before the file is too large.
			l.FileSize = max(l.FileSize, folder.Bytes+1<<20)
		}
	}
	return l
}

// check refuses what cannot be meant. Names become path elements of the child's view, so they
// are held to letters that no system treats specially.
func (s Spec) check() error {
	if !filepath.IsAbs(s.Program) {
		return fmt.Errorf("checking spec: program %q is not an absolute path", s.Program)
	}
	seen := map[string]bool{programName: true}
	for name, path := range s.ReadOnly {
		if err := checkName(name, seen); err != nil {
			return err
		}
		if !filepath.IsAbs(path) {
			return fmt.Errorf("checking spec: %s: %q is not an absolute path", name, path)
		}
	}
	for _, folder := range s.Scratch {
		if err := checkName(folder.Name, seen); err != nil {
			return err
		}
		if folder.Bytes <= 0 || folder.Files <= 0 {
			return fmt.Errorf("checking spec: scratch folder %s needs a limit of bytes and of files", folder.Name)
		}
	}
	l := s.Limits
	if l.Memory < 0 || l.CPU < 0 || l.OpenFiles < 0 || l.FileSize < 0 || l.Threads < 0 {
		return errors.New("checking spec: a limit is negative")
	}
	return nil
}

// programName is the name under which [Box.Path] gives the program itself.
const programName = "program"

func checkName(name string, seen map[string]bool) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("checking spec: name %q must have 1 to 64 characters", name)
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '-' && r != '_' && r != '.') {
			return fmt.Errorf("checking spec: name %q may have letters, digits, dot, dash and underscore", name)
		}
	}
	if seen[name] {
		return fmt.Errorf("checking spec: name %q is used twice", name)
	}
	seen[name] = true
	return nil
}

// A Command is what the confined program is told.
type Command struct {
	Args []string // arguments after the program's own name
	Env  []string // the whole environment, nothing is added
	Dir  string   // name of a scratch or read-only folder; empty means the root folder

	// Nil means the null device. The files stay the caller's.
	Stdin, Stdout, Stderr *os.File
}
