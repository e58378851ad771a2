package mcp

// Limits bound one message. A field that is zero or negative takes its default, so that no
// forgotten field means "without limit".
type Limits struct {
	Bytes   int // size of the message
	Depth   int // nesting of objects and arrays
	Members int // object members in the whole message: each costs memory while it is compared
}

// The defaults leave room for a request that carries files; nothing in MCP nests deeply.
const (
	DefaultBytes   = 32 << 20
	DefaultDepth   = 128
	DefaultMembers = 100_000
)

// OrDefault returns the limits with each unset field replaced.
func (l Limits) OrDefault() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Members <= 0 {
		l.Members = DefaultMembers
	}
	return l
}
