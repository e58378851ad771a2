package enginetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sallyport.dev/sallyport/internal/python"
)

// set holds what an engine can do: threads, processes, network and module:NAME.
type set map[string]bool

func abilities(t Traits, c python.Capabilities) set {
	have := set{"threads": t.Threads, "processes": t.Processes, "network": t.Network}
	for _, p := range c.Packages {
		for _, m := range p.Modules {
			have["module:"+m] = true
		}
	}
	return have
}

func (s set) holds(condition string) bool {
	if name, not := strings.CutPrefix(condition, "!"); not {
		return !s[name]
	}
	return s[condition]
}

// judge returns what is wrong with an outcome.
func (c call) judge(have set, out python.Outcome, err error) []string {
	var problems, endings []string
	var ended, aboutStderr bool
	for _, k := range c.checks {
		if !all(have, k.when) {
			continue
		}
		switch k.verb {
		case "exit", "timeout", "signal", "failure":
			endings = append(endings, k.line)
			ended = ended || k.ending(out, err)
			continue
		case "stderr":
			aboutStderr = true
		}
		if problem := k.judge(out); problem != "" {
			problems = append(problems, fmt.Sprintf("%s: %s", k.line, problem))
		}
	}
	if len(endings) == 0 {
		endings, ended = []string{"exit 0"}, check{verb: "exit", text: "0"}.ending(out, err)
	}
	if !ended {
		problems = append(problems, fmt.Sprintf("it did not end with %s", strings.Join(endings, " or ")))
	}
	if !aboutStderr && out.ExitCode != nil && *out.ExitCode == 0 && out.Stderr.Text != "" {
		problems = append(problems, "there is something on stderr")
	}
	return problems
}

func all(have set, conditions []string) bool {
	for _, c := range conditions {
		if !have.holds(c) {
			return false
		}
	}
	return true
}

func (k check) ending(out python.Outcome, err error) bool {
	var f *python.Failure
	if errors.As(err, &f) {
		return k.verb == "failure" && k.text == string(f.Kind)
	}
	switch k.verb {
	case "exit":
		return err == nil && !out.TimedOut && out.ExitCode != nil && strconv.Itoa(*out.ExitCode) == k.text
	case "timeout":
		return err == nil && out.TimedOut && out.ExitCode == nil
	case "signal":
		return err == nil && !out.TimedOut && out.ExitCode == nil
	}
	return false
}

func (k check) judge(out python.Outcome) string {
	switch k.verb {
	case "stdout":
		return k.compareText(&out.Stdout)
	case "stderr":
		return k.compareText(&out.Stderr)
	case "result":
		return k.compareText(out.Result)
	case "figures":
		n := 0
		for _, a := range out.Files {
			if a.Figure && strings.HasPrefix(string(a.Data), "\x89PNG\r\n\x1a\n") {
				n++
			}
		}
		if strconv.Itoa(n) != k.text {
			return fmt.Sprintf("there are %d", n)
		}
	case "file", "nofile":
		return k.file(out.Files)
	}
	return ""
}

func (k check) compareText(s *python.Stream) string {
	if k.about == "none" || s == nil {
		if (k.about == "none") != (s == nil) {
			return fmt.Sprintf("it is %+v", s)
		}
		return ""
	}
	ok := true
	switch k.about {
	case "exact":
		ok = s.Text == k.text
	case "has":
		ok = strings.Contains(s.Text, k.text)
	case "lacks":
		ok = !strings.Contains(s.Text, k.text)
	case "matches":
		ok = k.form.MatchString(s.Text)
	case "truncated":
		ok = s.Truncated
	case "escaped":
		ok = s.Escaped
	}
	if !ok {
		return fmt.Sprintf("it is %.600q", s.Text)
	}
	return ""
}

func (k check) file(files []python.Artifact) string {
	for _, a := range files {
		if a.Path != k.text {
			continue
		}
		switch {
		case k.verb == "nofile":
			if a.Data != nil {
				return fmt.Sprintf("%d bytes of it came back", len(a.Data))
			}
			return ""
		case a.Data == nil:
			return "it was left out: " + a.Reason
		case k.about == "exact" && string(a.Data) != k.more:
			return fmt.Sprintf("it holds %.300q", a.Data)
		}
		return ""
	}
	if k.verb == "nofile" {
		return ""
	}
	return "it is missing"
}

// compare judges the runs of a repeated call against each other.
func (c call) compare(outs []string) []string {
	var problems []string
	words := func(run, line int) []string {
		lines := strings.Split(outs[run], "\n")
		if line > len(lines) {
			return nil
		}
		return strings.Fields(lines[line-1])
	}
	for _, line := range c.distinct {
		seen := map[string]bool{}
		for run := range outs {
			got := words(run, line)
			if len(got) == 0 {
				problems = append(problems, fmt.Sprintf("run %d has no line %d", run+1, line))
			}
			for i, w := range got {
				key := fmt.Sprint(i, " ", w)
				if seen[key] {
					problems = append(problems, fmt.Sprintf("%q stands in line %d of two runs", w, line))
				}
				seen[key] = true
			}
		}
	}
	for _, line := range c.varies {
		different := map[string]bool{}
		for run := range outs {
			different[strings.Join(words(run, line), " ")] = true
		}
		if len(different) < 2 {
			problems = append(problems, fmt.Sprintf("line %d is the same in all %d runs", line, len(outs)))
		}
	}
	return problems
}

func describe(out python.Outcome, err error) string {
	ending := "no exit code"
	if out.ExitCode != nil {
		ending = fmt.Sprintf("exit code %d", *out.ExitCode)
	}
	if out.TimedOut {
		ending = "a time-out"
	}
	if err != nil {
		ending = fmt.Sprintf("failure %v", err)
	}
	var files []string
	for _, a := range out.Files {
		files = append(files, fmt.Sprintf("%s (%d bytes, %s)", a.Path, a.Size, a.Reason))
	}
	return fmt.Sprintf("%s after %v\nstdout %.1000q\nstderr %.3000q\nfiles %s\nnotes %q", ending, out.Duration, out.Stdout.Text, out.Stderr.Text, strings.Join(files, ", "), out.Notes)
}
