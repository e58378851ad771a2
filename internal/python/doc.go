// Package python is run_python: what a request is, what comes back, and the tool that offers it.
//
// It knows no interpreter. An [Engine] runs a script, each in a folder of its own; this package
// narrows the request, queues it, cuts the output, renders the result for a client, and writes
// the tool description from what the live engine reports. It refuses a request that asks for
// more than the operator allowed. Results go to transport.
package python
