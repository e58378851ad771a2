// Package mcp checks the JSON-RPC envelope of the Model Context Protocol: bytes in, checked
// bytes out.
//
// Two parsers that disagree about one message are a way around every rule: the checker reads
// "name", the server takes "NAME" or the second of two "name" members. So [Check] refuses what
// parsers are known to read differently (duplicate members, members that differ only in case,
// text that is not Unicode, numbers that a float would round) and hands on the very bytes that
// it read. Only what must be inspected is typed; unknown members and methods pass untouched.
//
// It refuses batches, since none of the revisions in use needs them and each element would have
// to pass every later stage by itself. Checked messages go to transport.
package mcp
