package python

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// enclosure is an artifact in the form in which it is sent, with what that costs.
type enclosure struct {
	content mcp.Content
	cost    int64 // bytes of JSON, at most
}

// enclosureFrame is what the JSON around a piece of content takes, apart from its URI.
const enclosureFrame = 400

// enclose turns an artifact into content. Its bytes are the guest's: they are never decoded here,
// only looked at for the signature of a picture. What claims to be one and is none is sent as
// bytes, since clients hand image content to a decoder. A picture that is too large is left out
// with a note; scaling it down is work for the sandbox, not for this process.
func enclose(a Artifact, call uint64) enclosure {
	where := &url.URL{Scheme: "sallyport", Host: "call", Path: fmt.Sprintf("/%d/workspace/%s", call, a.Path)}
	if a.Figure {
		where.Path = fmt.Sprintf("/%d/%s", call, a.Path)
	}
	uri := where.String()
	meta := mcp.Meta{"sallyport.dev/path": printable(a.Path, pathChars)}
	frame := int64(enclosureFrame + 2*len(uri))
	switch picture := http.DetectContentType(a.Data); picture {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return enclosure{&mcp.ImageContent{Data: a.Data, MIMEType: picture, Meta: meta}, frame + encodedLen(a.Data)}
	}
	kind := cleanMIME(a.MIME)
	if isText(kind) && len(a.Data) > 0 && utf8.Valid(a.Data) {
		_, encoded := measure(a.Data)
		return enclosure{embedded(&mcp.ResourceContents{URI: uri, MIMEType: kind, Text: string(a.Data)}, meta), frame + int64(encoded)}
	}
	return enclosure{embedded(&mcp.ResourceContents{URI: uri, MIMEType: kind, Blob: a.Data}, meta), frame + encodedLen(a.Data)}
}

func embedded(r *mcp.ResourceContents, meta mcp.Meta) mcp.Content {
	return &mcp.EmbeddedResource{Resource: r, Meta: meta}
}

func encodedLen(data []byte) int64 { return int64(base64.StdEncoding.EncodedLen(len(data))) }

// cleanMIME lets through a plain media type and nothing that only looks like one.
func cleanMIME(s string) string {
	kind, _, err := mime.ParseMediaType(s)
	if err != nil || len(kind) > 80 || !strings.Contains(kind, "/") {
		return "application/octet-stream"
	}
	return kind
}

func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}

// A parcel chooses what of the artifacts a reply has room for: first by the operator's count and
// size, later by the bytes that the rest of the reply leaves.
type parcel struct {
	files      []file
	enclosures []enclosure // nil content where the file was left out already
	more       int         // files that are not even listed
}

func pack(artifacts []Artifact, l Limits, call uint64) parcel {
	var p parcel
	var count int
	var size int64
	for _, a := range artifacts {
		if len(p.files) == maxListed {
			p.more++
			continue
		}
		f := file{Path: printable(a.Path, pathChars), MIME: cleanMIME(a.MIME), Size: max(a.Size, int64(len(a.Data)))}
		var e enclosure
		switch {
		case a.Data == nil:
			f.Note = orElse(oneLine(a.Reason, noteText), "it was left out by the sandbox")
		case len(a.Path) > maxName || !utf8.ValidString(a.Path):
			f.Note = "its name is too long or not UTF-8"
		case count == l.Artifacts:
			f.Note = fmt.Sprintf("only %d files and figures come back from a call", l.Artifacts)
		case size+int64(len(a.Data)) > l.ArtifactSize:
			f.Note = fmt.Sprintf("files and figures may have %s together", bytesize(l.ArtifactSize))
		default:
			count++
			size += int64(len(a.Data))
			e = enclose(a, call)
			f.Note = noRoom
		}
		p.files = append(p.files, f)
		p.enclosures = append(p.enclosures, e)
	}
	return p
}

const noRoom = "the reply has no room for it; write less or make it smaller"

// fill marks what fits into the room as included and returns it as content.
func (p parcel) fill(room int64) []mcp.Content {
	var content []mcp.Content
	for i, e := range p.enclosures {
		if e.content == nil || e.cost > room {
			continue
		}
		room -= e.cost
		p.files[i].Included, p.files[i].Note = true, ""
		content = append(content, e.content)
	}
	return content
}
