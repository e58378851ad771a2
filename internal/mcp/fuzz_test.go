package mcp

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// hostile are messages that have fooled programs, none of which may be taken.
func hostile(t testing.TB) [][]byte {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

func TestCheckRefusesHostileMessages(t *testing.T) {
	for _, message := range hostile(t) {
		if msg, refusal := Check(message, Limits{}); refusal == nil {
			t.Errorf("%s\nwas taken as %+v", message, msg)
		}
	}
}

// FuzzCheck holds that whatever is taken reads the same to a lenient parser, and that whatever is
// refused has an answer that can be sent.
func FuzzCheck(f *testing.F) {
	for _, seed := range hostile(f) {
		f.Add(seed)
	}
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`,
		"\xef\xbb\xbf{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		msg, refusal := Check(data, Limits{Bytes: 1 << 16})
		if !bytes.Equal(before, data) {
			t.Fatal("the input was changed")
		}
		if refusal != nil {
			answer := refusal.Response()
			if !json.Valid(answer) || bytes.ContainsRune(answer, '\n') {
				t.Fatalf("answer is not one line of JSON: %q", answer)
			}
			return
		}
		// encoding/json ignores case and lets the last duplicate win: the peer to agree with.
		var peer struct {
			ID     json.RawMessage
			Method string
			Params struct {
				RequestID json.RawMessage `json:"requestId"`
			}
		}
		if err := json.Unmarshal(data, &peer); err != nil {
			t.Fatalf("taken, but a lenient parser says: %v", err)
		}
		if peer.Method != msg.Method {
			t.Fatalf("method %q, a lenient parser reads %q", msg.Method, peer.Method)
		}
		if msg.Kind == Request || msg.Kind == Response {
			if id, reason := ParseID(bytes.TrimSpace(peer.ID)); id != msg.ID || reason != "" {
				t.Fatalf("id %q, a lenient parser reads %q (%s)", msg.ID, id, reason)
			}
			if found := FindID(data); found != msg.ID {
				t.Fatalf("id %q, the scanner finds %q", msg.ID, found)
			}
		}
	})
}
