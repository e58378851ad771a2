package python

import (
	"strings"
)

// A result is the structured content of a reply. Every field is in every reply; schema/output.json
// describes them.
type result struct {
	Status          string   `json:"status"`
	Stdout          string   `json:"stdout"`
	Stderr          string   `json:"stderr"`
	ExitCode        *int     `json:"exit_code"`
	TimedOut        bool     `json:"timed_out"`
	Result          *string  `json:"result"`
	DurationMS      int64    `json:"duration_ms"`
	StdoutBytes     int64    `json:"stdout_bytes"`
	StderrBytes     int64    `json:"stderr_bytes"`
	StdoutTruncated bool     `json:"stdout_truncated"`
	StderrTruncated bool     `json:"stderr_truncated"`
	ResultTruncated bool     `json:"result_truncated"`
	StdoutEscaped   bool     `json:"stdout_escaped"`
	StderrEscaped   bool     `json:"stderr_escaped"`
	Files           []file   `json:"files"`
	Notes           []string `json:"notes"`
	Error           *failure `json:"error"`

	resultBytes int64 // for the text block, which may have to cut result again
}

type file struct {
	Path     string `json:"path"`
	MIME     string `json:"mime"`
	Size     int64  `json:"size"`
	Included bool   `json:"included"`
	Note     string `json:"note"`
}

type failure struct {
	Kind    FailureKind `json:"kind"`
	Message string      `json:"message"`
}

// Status of a result.
const (
	statusOK      = "ok"
	statusError   = "error"
	statusTimeout = "timeout"
	statusFailed  = "failed"
)

// Bounds of what a reply lists beside the streams.
const (
	maxListed = 40  // files
	maxNoted  = 16  // notes
	pathChars = 120 // of a path, as it is shown
	noteText  = 240 // of a note
)

// newResult builds the structured content without files. The outcome is hostile: it is cut and
// cleaned here whatever the engine did before.
func newResult(o Outcome, f *Failure, l Limits, notes []string) result {
	stdout, stderr := o.Stdout.within(l.OutputChars), o.Stderr.within(l.OutputChars)
	r := result{
		Status:     status(o, f),
		Stdout:     stdout.Text,
		Stderr:     stderr.Text,
		TimedOut:   o.TimedOut && f == nil,
		DurationMS: max(o.Duration.Milliseconds(), 0),

		StdoutBytes: max(stdout.Bytes, 0), StdoutTruncated: stdout.Truncated, StdoutEscaped: stdout.Escaped,
		StderrBytes: max(stderr.Bytes, 0), StderrTruncated: stderr.Truncated, StderrEscaped: stderr.Escaped,

		Files: []file{},
		Notes: []string{},
	}
	if r.Status == statusOK || r.Status == statusError {
		r.ExitCode = o.ExitCode
	}
	if o.Result != nil {
		value := o.Result.within(l.OutputChars)
		r.Result, r.ResultTruncated, r.resultBytes = &value.Text, value.Truncated, value.Bytes
	}
	if f != nil {
		kind, message := f.public(l)
		r.Error = &failure{Kind: kind, Message: message}
	}
	if r.Status == statusTimeout {
		notes = append(notes, "The time limit of "+seconds2text(l.Timeout)+" ended the script; what it printed until then is kept.")
	}
	for _, n := range append(notes, o.Notes...) {
		if len(r.Notes) == maxNoted {
			break
		}
		r.Notes = append(r.Notes, oneLine(n, noteText))
	}
	return r
}

func status(o Outcome, f *Failure) string {
	switch {
	case f != nil:
		return statusFailed
	case o.TimedOut:
		return statusTimeout
	case o.ExitCode != nil && *o.ExitCode == 0:
		return statusOK
	}
	return statusError
}

// lastLine is the last line of a traceback, for the head of the text block.
func lastLine(s string, chars int) string {
	s = strings.TrimRight(s, " \r\n\t")
	return oneLine(s[strings.LastIndexAny(s, "\r\n")+1:], chars)
}
