package mcp

import (
	"strings"
	"testing"
)

func BenchmarkCheck(b *testing.B) {
	for name, code := range map[string]string{"small": "print(1)", "64KiB": strings.Repeat("print(1)\\n", 7200)} {
		message := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"` + code + `"}}}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			for b.Loop() {
				if _, refusal := Check(message, Limits{}); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}
