// Command summary reads the output of go test -json, shows what failed, and counts.
//
// The last lines say how many tests passed, failed and were skipped, and why each was skipped: a test
// that did not run is no test that passed. It ends with exit code 1 when one failed, or when none ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// An event is one line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

type count struct {
	passed, failed, skipped int
	reasons                 []string
}

func main() {
	c, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
	if len(os.Args) > 1 {
		if err := add(os.Args[1], c); err != nil {
			fmt.Fprintln(os.Stderr, "summary:", err)
			os.Exit(1)
		}
	}
	if c.failed > 0 || c.passed == 0 {
		os.Exit(1)
	}
}

// read shows failures and a line for each package as they come.
func read(in io.Reader, out io.Writer) (count, error) {
	var c count
	output := map[string][]string{} // of each test that has not ended
	broken := map[string]bool{}     // packages with a test that failed
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return c, nil
		}
		if err != nil && err != io.EOF {
			return c, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(out, "%s", line) // the toolchain's own words, such as a build error
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
			continue
		case "pass":
			if e.Test != "" {
				c.passed++
			} else {
				fmt.Fprintf(out, "ok      %s %.1fs\n", e.Package, e.Elapsed)
			}
		case "skip":
			if e.Test != "" {
				c.skipped++
				c.reasons = append(c.reasons, e.Package+"."+e.Test+": "+reason(output[key]))
			}
		case "fail":
			if e.Test != "" {
				broken[e.Package] = true
			}
			// A package that fails without a failed test did not build, crashed, or ran too long.
			if e.Test != "" || !broken[e.Package] {
				c.failed++
			}
			fmt.Fprintf(out, "FAIL    %s\n%s", key, strings.Join(output[key], ""))
		case "build-fail":
			fmt.Fprintf(out, "%s", strings.Join(output[key], ""))
		default:
			continue
		}
		delete(output, key)
	}
}

// reason is what a test said when it skipped itself.
func reason(lines []string) string {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			if _, text, ok := strings.Cut(line, ".go:"); ok {
				_, text, _ = strings.Cut(text, ": ")
				return text
			}
			return line
		}
	}
	return "no reason given"
}

// add appends the counts to a file, one line of three numbers, and the reasons to name.skips.
func add(name string, c count) error {
	if err := appendTo(name, fmt.Sprintf("%d %d %d\n", c.passed, c.failed, c.skipped)); err != nil {
		return err
	}
	slices.Sort(c.reasons)
	var b strings.Builder
	for _, r := range c.reasons {
		b.WriteString(r + "\n")
	}
	return appendTo(name+".skips", b.String())
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
