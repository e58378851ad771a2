package patch

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
)

//go:embed *.go
var sources embed.FS

// Version names this state of the patches. An image that was made with another one is made anew.
func Version() string {
	h := sha256.New()
	entries, err := sources.ReadDir(".")
	if err != nil {
		panic(err) // embedded files cannot fail to be read
	}
	for _, e := range entries {
		data, err := sources.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
