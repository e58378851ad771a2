package artifact

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// checkName refuses every archive entry name that is not a plain, relative, slash-separated path.
// Windows forms are refused everywhere: an archive is made on one system and unpacked on another.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > 1024 || !utf8.ValidString(name):
		return fmt.Errorf("%w: entry name %.60q is empty, too long or not UTF-8", ErrArchive, name)
	case strings.ContainsAny(name, "\\:\x00") || hasControl(name):
		return fmt.Errorf("%w: entry name %.60q has a backslash, colon or control character", ErrArchive, name)
	case path.IsAbs(name) || path.Clean(name) != name || name == "." || name == ".." || strings.HasPrefix(name, "../"):
		return fmt.Errorf("%w: entry name %.60q leaves the archive", ErrArchive, name)
	}
	return nil
}

func hasControl(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f {
			return true
		}
	}
	return false
}
