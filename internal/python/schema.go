package python

import _ "embed"

// inputSchema is the JSON Schema of the arguments of run_python.
//
//go:embed schema/input.json
var inputSchema []byte

// outputSchema is the JSON Schema of the structured content of every result, a runner's failure
// too: one shape with all fields, so that a strict client can read any of them.
//
//go:embed schema/output.json
var outputSchema []byte
