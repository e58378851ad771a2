package python

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDescription bounds the tool description, in characters: every client puts it into every
// prompt, and some cut what is longer.
const maxDescription = 4000

// maxNotes bounds what the engine's own facts may take of that.
const maxNotes = 1600

// Describe writes the tool description for a live engine and the limits that hold for its calls.
// It is the prompt: what it promises is all that a script's author knows, so it promises nothing
// that the engine did not report.
func Describe(c Capabilities, l Limits) string {
	var b strings.Builder
	if !c.Ready {
		fmt.Fprintf(&b, "NOT SET UP: every call fails until the operator has prepared this machine: %s\n\n", orElse(oneLine(c.NotReady, 300), "run `sallyport setup`"))
	}
	fmt.Fprintf(&b, "Runs a Python%s script in a sandbox and returns stdout, stderr, exit_code and, as result, the repr of a last expression. Top-level await works.\n", versionSuffix(c.Python))
	for _, fact := range []string{
		"No network: downloads, web requests and pip install fail at once, and retrying is useless.",
		"No state between calls: each call is a fresh interpreter. Variables, imports and files of earlier calls are gone, so send all that a script needs in one call.",
		fmt.Sprintf("Time: %s of wall clock for each call, then it is killed; what it printed until then comes back. timeout_seconds can only lower that.", seconds2text(l.Timeout)),
		fmt.Sprintf("Output: %d characters each of stdout, stderr and result; longer text is cut in the middle, with a note that gives the total.", l.OutputChars),
		fmt.Sprintf("Memory: %s. Disk: %s and %d files in all. Input: %s.", mebibytes(l.Memory), mebibytes(l.Scratch), l.ScratchFiles, bytesize(l.InputSize)),
		fmt.Sprintf("Files: no file of the host is visible. The files argument puts files under /workspace/input. The working folder is /workspace and writable; write what should come back to /workspace/output. matplotlib figures that are shown or left open come back as images. At most %d files and figures, %s together. /tmp is private to the call.", l.Artifacts, bytesize(l.ArtifactSize)),
		"stdin is empty unless the stdin argument is given.",
	} {
		b.WriteString("- " + fact + "\n")
	}
	notes := 0
	for _, n := range c.Notes {
		line := "- " + oneLine(n, 400) + "\n"
		if notes += utf8.RuneCountInString(line); notes > maxNotes {
			break
		}
		b.WriteString(line)
	}
	room := maxDescription - utf8.RuneCountInString(b.String())
	b.WriteString(packageList(c.Packages, room))
	return cutTo(strings.TrimRight(b.String(), "\n"), maxDescription)
}

// packageList names packages with versions, without them when there is no room, and says how many
// are missing when there is still none.
func packageList(packages []Package, room int) string {
	if len(packages) == 0 {
		return "Packages: the standard library only.\n"
	}
	const head = "Packages, by plain import: the standard library and "
	for _, versions := range []bool{true, false} {
		var names []string
		for _, p := range packages {
			names = append(names, packageName(p, versions))
		}
		if list := head + strings.Join(names, ", ") + ".\n"; utf8.RuneCountInString(list) <= room {
			return list
		}
	}
	var names []string
	room -= utf8.RuneCountInString(head) + len(" and 12345 more.\n")
	for _, p := range packages {
		name := packageName(p, false)
		if room -= utf8.RuneCountInString(name) + len(", "); room < 0 {
			break
		}
		names = append(names, name)
	}
	return fmt.Sprintf("%s%s and %d more.\n", head, strings.Join(names, ", "), len(packages)-len(names))
}

// packageName is "scikit-learn 1.8.0 (import sklearn)"; the import is named where it cannot be
// guessed from the distribution.
func packageName(p Package, version bool) string {
	name := oneLine(p.Name, 80)
	if version && p.Version != "" {
		name += " " + oneLine(p.Version, 40)
	}
	guess := strings.ToLower(strings.ReplaceAll(p.Name, "-", "_"))
	for _, m := range p.Modules {
		if strings.ToLower(m) == guess {
			return name
		}
	}
	if len(p.Modules) > 0 {
		name += " (import " + oneLine(p.Modules[0], 80) + ")"
	}
	return name
}

func versionSuffix(v string) string {
	if v == "" {
		return ""
	}
	return " " + oneLine(v, 40)
}

// oneLine makes text of an engine fit for a list.
func oneLine(s string, chars int) string {
	return printable(strings.Join(strings.Fields(s), " "), chars)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func bytesize(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return mebibytes(n)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

func cutTo(s string, chars int) string {
	if utf8.RuneCountInString(s) <= chars {
		return s
	}
	return string([]rune(s)[:chars-1]) + "…"
}
