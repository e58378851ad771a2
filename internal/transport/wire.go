package transport

import (
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sallyport.dev/sallyport/internal/mcp"
)

// idOf is the id of an SDK message in our spelling.
func idOf(id jsonrpc.ID) mcp.ID {
	switch v := id.Raw().(type) {
	case string:
		return mcp.StringID(v)
	case int64:
		return mcp.IntID(v)
	}
	return ""
}

func errorCode(err error) int {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return int(wire.Code)
	}
	return 0
}

// maxErrorText bounds an error message: the SDK quotes whole parameters in some of them.
const maxErrorText = 1000

func errorText(err error) string {
	text := err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}
