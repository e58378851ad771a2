package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"

	"golang.org/x/sys/cpu"
)

// processor names what machine code may use here. An image is compiled for the processor of the
// machine that sets it up, so it is made anew when the cache moves to another kind.
func processor() string {
	var features any
	switch runtime.GOARCH {
	case "amd64":
		features = cpu.X86
	case "arm64":
		features = cpu.ARM64
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", features))
	return runtime.GOOS + "/" + runtime.GOARCH + "/" + hex.EncodeToString(sum[:6])
}
