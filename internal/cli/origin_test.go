package cli

import "testing"

func TestValidOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"https://app.example.org": true, "http://127.0.0.1:3000": true, "HTTPS://App.Example.Org:8443": true,
		"http://[::1]:80": true, "vscode-webview://abc": true,
		"": false, "*": false, "null": false, "app.example.org": false, "app.example.org:443": false, "https://": false,
		"https://app.example.org/": false, "https://app.example.org/page": false, "https://*.example.org": false,
		"https://me@app.example.org": false, "https://app.example.org?x": false, "https://app.example.org#x": false,
		"https://app.example.org:": false, "https://:443": false, "https://app.example.org:port": false, "mailto:a@b": false,
	} {
		if got := validOrigin(origin); got != want {
			t.Errorf("%q: %v, want %v", origin, got, want)
		}
	}
}
