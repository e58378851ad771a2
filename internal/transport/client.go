package transport

import "context"

type clientKey struct{}

// Client names the connection that a call came by, for fair queueing: calls with equal names
// share a turn. It is "stdio" on stdio, one name a session in the handshake era over HTTP, and
// otherwise the token or the remote address. It is opaque, and no proof of identity.
func Client(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

func withClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}
