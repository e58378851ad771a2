package python

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// DefaultMaxReply is how large a reply may become, in bytes of JSON. Common clients refuse lines of 1 MiB.
const DefaultMaxReply = 1_000_000

// envelope is room for what surrounds a result: the id, the protocol's own fields, framing.
const envelope = 4 << 10

// smallPrint is room for all that is neither a stream nor an enclosure, at its worst, in both forms.
const smallPrint = 140 << 10

// streamsSize is how many bytes the streams can take in both forms, at most.
func streamsSize(l Limits) int {
	structured := 3 * (l.OutputChars*encodedPerChar + 2*noteChars)
	text := (l.OutputChars+2*shortChars(l))*encodedPerChar + 3*3*noteChars
	return structured + text
}

// checkReply refuses limits under which a reply could outgrow its own limit.
func checkReply(l Limits, maxReply int) error {
	if need := streamsSize(l) + smallPrint + envelope; need > maxReply {
		return fmt.Errorf("an output limit of %d characters needs replies of up to %d bytes and the limit is %d: lower the one or raise the other", l.OutputChars, need, maxReply)
	}
	return nil
}

// reply renders what a call led to. A script that fails is no error of the tool: exit_code and
// status say so. IsError is set when the runner failed.
func reply(o Outcome, f *Failure, l Limits, notes []string, call uint64, maxReply int) *mcp.CallToolResult {
	if f != nil && f.Partial != nil {
		o = *f.Partial
	}
	r := newResult(o, f, l, notes)
	p := pack(o.Files, l, call)
	r.Files = append(r.Files, p.files...)
	if p.more > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d more files are not listed.", p.more))
	}
	p.files = r.Files
	// Measured while no file is included, when the list is at its longest.
	structured, text := encode(r), r.transcript(l)
	_, encoded := measure([]byte(text))
	if content := p.fill(int64(maxReply - envelope - len(structured) - encoded)); len(content) > 0 {
		return &mcp.CallToolResult{
			Content:           append([]mcp.Content{&mcp.TextContent{Text: r.transcript(l)}}, content...),
			StructuredContent: encode(r), IsError: f != nil,
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: structured, IsError: f != nil}
}

// encode cannot fail: a result holds strings, numbers and booleans only.
func encode(r result) json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return b
}
