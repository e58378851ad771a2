// Command sallyport runs what an agent wants to run, in a place where it can do no harm.
//
// Everything is in package cli; this file exists so that the program has a name.
package main

import (
	"os"

	"sallyport.dev/sallyport/internal/cli"
)

func main() { os.Exit(cli.Main()) }
