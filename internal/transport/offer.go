package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// onlyOffered refuses the methods of features that the server does not declare. The SDK answers
// them with empty lists, which tells a client the opposite of what the handshake told it.
func onlyOffered(server *sdk.Server) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			prefix, _, _ := strings.Cut(method, "/")
			switch prefix {
			case "prompts", "resources", "completion", "logging":
			default:
				return next(ctx, method, r)
			}
			offered, err := capabilities(ctx, server)
			if err != nil {
				return nil, err
			}
			if prefix == "completion" {
				prefix = "completions" // as the capability is spelled
			}
			if offered[prefix] == nil {
				return nil, &jsonrpc.Error{Code: codeMethodNotFound, Message: fmt.Sprintf("this server offers no %s", prefix)}
			}
			return next(ctx, method, r)
		}
	}
}

// capabilities asks the server in its own protocol, since the SDK has no other way. Such
// methods are rare, and the answer may change while a server runs.
func capabilities(ctx context.Context, server *sdk.Server) (map[string]json.RawMessage, error) {
	c := &probe{answer: make(chan json.RawMessage, 1), closed: make(chan struct{})}
	session, err := server.Connect(ctx, c, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for capabilities: %w", err)
	}
	var raw json.RawMessage
	select {
	case raw = <-c.answer:
	case <-ctx.Done():
	}
	_ = c.Close()
	_ = session.Close() // the probe ends in no other way
	if raw == nil {
		return nil, fmt.Errorf("asking for capabilities: %w", ctx.Err())
	}
	var result struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("reading capabilities: %w", err)
	}
	return result.Capabilities, nil
}

// probe is a connection that carries one initialize and its answer.
type probe struct {
	answer chan json.RawMessage
	closed chan struct{}
	once   sync.Once
	asked  bool
}

func (c *probe) Connect(context.Context) (sdk.Connection, error) { return c, nil }
func (c *probe) SessionID() string                               { return "" }

func (c *probe) Read(context.Context) (jsonrpc.Message, error) {
	if !c.asked {
		c.asked = true
		return jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` +
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"self","version":"0"}}}`))
	}
	<-c.closed
	return nil, io.EOF
}

func (c *probe) Write(_ context.Context, msg jsonrpc.Message) error {
	if response, ok := msg.(*jsonrpc.Response); ok {
		select {
		case c.answer <- response.Result:
		default: // there is one question only
		}
	}
	return nil
}

func (c *probe) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
