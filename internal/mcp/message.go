package mcp

// A Kind says what a message is for its receiver.
type Kind int

const (
	Request      Kind = iota + 1 // has a method and an id: must be answered
	Notification                 // has a method and no id: must not be answered
	Response                     // answers a request of ours
	Orphan                       // an error with id null: answers nothing, to be dropped
)

// A Message is a checked message. Raw are the checked bytes, and what every later stage must use.
type Message struct {
	Raw    []byte
	Kind   Kind
	ID     ID
	Method string

	// Version is params._meta["io.modelcontextprotocol/protocolVersion"], which marks a request
	// of the stateless era; empty elsewhere.
	Version string
	// Cancels is params.requestId of notifications/cancelled.
	Cancels ID
}
