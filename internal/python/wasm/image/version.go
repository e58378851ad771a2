package image

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
)

//go:embed heap.go template.go
var sources embed.FS

// Version names the code that goes into a template. One that was compiled from another is stale.
func Version() string {
	h := sha256.New()
	for _, name := range []string{"heap.go", "template.go"} {
		data, err := sources.ReadFile(name)
		if err != nil {
			panic(err) // embedded files cannot fail to be read
		}
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
