// Package clientconfig knows how MCP clients are told to start a server: which file, which shape.
//
// It writes text for a person to paste and touches no file. It refuses a command that a client
// would change on the way, such as one with a variable in it. The text goes to the terminal.
package clientconfig
