package transport

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// What a call costs apart from its tool.
func BenchmarkStdioCall(b *testing.B) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ServeStdio(b.Context(), newTestServer().Server, inR, outW, StdioOptions{}) }()
	lines := bufio.NewReader(outR)
	ask := func(message string) {
		if _, err := io.WriteString(inW, message+"\n"); err != nil {
			b.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || strings.Contains(line, `"error"`) {
			b.Fatal(line, err)
		}
	}
	ask(initialize(1, "2025-11-25"))
	message := call(2, "echo", map[string]any{"text": "hello"})
	for b.Loop() {
		ask(message)
	}
	inW.Close()
	<-ended
}

func BenchmarkHTTPCall(b *testing.B) {
	handler, err := NewHTTPHandler(newTestServer().Server, HTTPOptions{})
	if err != nil {
		b.Fatal(err)
	}
	listener, err := Listen(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go Serve(b.Context(), listener, handler)
	ask := func(session, message string) string {
		r, err := http.NewRequest(http.MethodPost, "http://"+listener.Addr().String()+"/mcp", strings.NewReader(message))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set(sessionHeader, session)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		if body, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			b.Fatal(answer.Status, string(body), err)
		}
		return answer.Header.Get(sessionHeader)
	}
	session := ask("", initialize(1, "2025-11-25"))
	message := call(2, "echo", map[string]any{"text": "hello"})
	for b.Loop() {
		ask(session, message)
	}
}
