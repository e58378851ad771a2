package transport

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What is declared later, while the server runs, is offered too.
func TestOfferedFeaturesPass(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.handshake("2025-11-25")
	p.send(request(1, "prompts/list", nil))
	p.wantError("1", codeMethodNotFound, "not found")
	p.server.AddPrompt(&sdk.Prompt{Name: "hello"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{}, nil
	})
	for {
		p.send(request(2, "prompts/list", nil))
		r := p.reply()
		if r.ID == nil {
			continue // notifications of the change
		}
		if r.Error != nil {
			t.Errorf("got %s", r.raw)
		}
		break
	}
}
