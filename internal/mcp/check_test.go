package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckTakes(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     Message
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, Message{Kind: Request, ID: "1", Method: "ping"}},
		{"id zero", `{"jsonrpc":"2.0","id":0,"method":"ping"}`, Message{Kind: Request, ID: "0", Method: "ping"}},
		{"id empty string", `{"jsonrpc":"2.0","id":"","method":"ping"}`, Message{Kind: Request, ID: `""`, Method: "ping"}},
		{"id digit string", `{"jsonrpc":"2.0","id":"0","method":"ping"}`, Message{Kind: Request, ID: `"0"`, Method: "ping"}},
		{"id negative", `{"jsonrpc":"2.0","id":-1,"method":"ping"}`, Message{Kind: Request, ID: "-1", Method: "ping"}},
		{"id escaped", `{"jsonrpc":"2.0","id":"\u0061","method":"ping"}`, Message{Kind: Request, ID: `"a"`, Method: "ping"}},
		{"largest exact id", `{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, Message{Kind: Request, ID: "9007199254740991", Method: "ping"}},
		{"escaped member", `{"jsonrpc":"2.0","\u0069d":7,"method":"ping"}`, Message{Kind: Request, ID: "7", Method: "ping"}},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, Message{Kind: Notification, Method: "notifications/initialized"}},
		{"cancel", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`, Message{Kind: Notification, Method: "notifications/cancelled", Cancels: `"x"`}},
		{"result", `{"jsonrpc":"2.0","id":99,"result":{}}`, Message{Kind: Response, ID: "99"}},
		{"error", `{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"m"}}`, Message{Kind: Response, ID: "99"}},
		{"error without id", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, Message{Kind: Orphan}},
		{"modern", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			Message{Kind: Request, ID: "1", Method: "tools/list", Version: "2026-07-28"}},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, Message{Kind: Request, ID: "1", Method: "ping"}},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"ping","extra":{"a":1,"A":2}}`, Message{Kind: Request, ID: "1", Method: "ping"}},
		{"nested data keeps its case", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"env":{"Path":1,"PATH":2}}}}`,
			Message{Kind: Request, ID: "1", Method: "tools/call"}},
		{"line separators", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"code\":\"a\u2028b\u2029c\u0085d\"}}}",
			Message{Kind: Request, ID: "1", Method: "tools/call"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, refusal := Check([]byte(test.in), Limits{})
			if refusal != nil {
				t.Fatalf("refused: %v", refusal)
			}
			if string(got.Raw) != test.in {
				t.Errorf("raw bytes changed to %s", got.Raw)
			}
			got.Raw = nil
			want := test.want
			if got.Kind != want.Kind || got.ID != want.ID || got.Method != want.Method || got.Version != want.Version || got.Cancels != want.Cancels {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	for _, test := range []struct {
		name, in string
		id       ID
		code     int
		reason   string
	}{
		{"empty", ``, "", CodeParse, "not valid JSON"},
		{"garbage", `hello`, "", CodeParse, "not valid JSON"},
		{"cut off", `{"jsonrpc":"2.0","id":4,"method":"pi`, "4", CodeParse, "not valid JSON"},
		{"number", `7`, "", CodeInvalidRequest, "must be a JSON object"},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, "1", CodeInvalidRequest, "more than one"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "", CodeInvalidRequest, "batches"},
		{"empty batch", `[]`, "", CodeInvalidRequest, "batches"},
		{"batch of batch", `[[{"jsonrpc":"2.0","id":3,"method":"ping"}]]`, "", CodeInvalidRequest, "batches"},
		{"no version", `{"id":1,"method":"ping"}`, "1", CodeInvalidRequest, "jsonrpc"},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", CodeInvalidRequest, "jsonrpc"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "1", CodeInvalidRequest, "method"},
		{"method of wrong type", `{"jsonrpc":"2.0","id":1,"method":["ping"]}`, "1", CodeInvalidRequest, "method"},
		{"request and response", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "1", CodeInvalidRequest, "not both"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id exponent", `{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id minus zero", `{"jsonrpc":"2.0","id":-0,"method":"ping"}`, "", CodeInvalidRequest, "id must be"},
		{"id that would be rounded", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "", CodeInvalidRequest, "2^53"},
		{"id of many digits", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 400) + `,"method":"ping"}`, "", CodeInvalidRequest, "2^53"},
		{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID+1) + `","method":"ping"}`, "", CodeInvalidRequest, "longer than"},
		{"lone surrogate in id", `{"jsonrpc":"2.0","id":"s-\ud800","method":"ping"}`, "", CodeInvalidRequest, "Unicode"},
		{"lone surrogate in key", call(`{"name":"t","arguments":{"\udfff":"x"}}`), "1", CodeInvalidRequest, "Unicode"},
		{"lone surrogate in value", call(`{"name":"t","arguments":{"code":"\ud83d"}}`), "1", CodeInvalidRequest, "Unicode"},
		{"invalid UTF-8", call("{\"name\":\"t\",\"arguments\":{\"code\":\"\xff\"}}"), "1", CodeInvalidRequest, "Unicode"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "", CodeInvalidRequest, "duplicate"},
		{"two methods", `{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/call"}`, "3", CodeInvalidRequest, "duplicate"},
		{"two methods, one escaped", `{"jsonrpc":"2.0","id":3,"method":"ping","m\u0065thod":"tools/call"}`, "3", CodeInvalidRequest, "duplicate"},
		{"method in two cases", `{"jsonrpc":"2.0","id":3,"method":"ping","Method":"tools/call"}`, "3", CodeInvalidRequest, "case"},
		{"only a case variant", `{"jsonrpc":"2.0","id":3,"Method":"ping"}`, "3", CodeInvalidRequest, "case"},
		{"name twice", call(`{"name":"allowed","name":"denied"}`), "1", CodeInvalidRequest, "duplicate"},
		{"name in two cases", call(`{"name":"allowed","NAME":"denied"}`), "1", CodeInvalidRequest, "case"},
		{"long s folds to s", call("{\"name\":\"t\",\"argument\u017f\":{}}"), "1", CodeInvalidRequest, "case"},
		{"argument in two cases", call(`{"name":"t","arguments":{"code":"1","Code":"2"}}`), "1", CodeInvalidRequest, "case"},
		{"argument twice", call(`{"name":"t","arguments":{"code":"1","code":"2"}}`), "1", CodeInvalidRequest, "duplicate"},
		{"duplicate far inside", call(`{"name":"t","arguments":{"files":[{"name":"a","name":"b"}]}}`), "1", CodeInvalidRequest, "duplicate"},
		{"version marker in two cases", call(`{"name":"t","_meta":{"io.modelcontextprotocol/protocolversion":"2026-07-28"}}`), "1", CodeInvalidRequest, "case"},
		{"params array", call(`["t"]`), "1", CodeInvalidParams, "params must be"},
		{"no tool", call(`{}`), "1", CodeInvalidParams, "params.name"},
		{"tool of wrong type", call(`{"name":7}`), "1", CodeInvalidParams, "params.name"},
		{"arguments of wrong type", call(`{"name":"t","arguments":"code"}`), "1", CodeInvalidParams, "arguments"},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`, "", CodeInvalidParams, "requestId"},
		{"too deep", call(`{"name":"t","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`), "1", CodeInvalidRequest, "nests deeper"},
		{"too many members", call(`{"name":"t","x":[` + strings.Repeat(`{"a":1},`, 300) + `0]}`), "1", CodeInvalidRequest, "object members"},
		{"too large", call(`{"name":"t","x":"` + strings.Repeat("x", 100_000) + `"}`), "1", CodeInvalidRequest, "larger than"},
		{"too large, id last", `{"method":"` + strings.Repeat("x", 100_000) + `","jsonrpc":"2.0","id":"last"}`, `"last"`, CodeInvalidRequest, "larger than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got := Check([]byte(test.in), Limits{Bytes: 64 << 10, Members: 250})
			if got == nil {
				t.Fatal("taken")
			}
			if got.Code != test.code || got.ID != test.id || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("got id %q, %v; want id %q, %d: …%s…", got.ID, got, test.id, test.code, test.reason)
			}
			if !json.Valid(got.Response()) || bytes.ContainsRune(got.Response(), '\n') {
				t.Errorf("answer is not one line of JSON: %s", got.Response())
			}
		})
	}
}

func TestResponseEchoesTheID(t *testing.T) {
	for id, want := range map[ID]string{
		"":              `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no \"x\""}}`,
		"-1":            `{"jsonrpc":"2.0","id":-1,"error":{"code":-32600,"message":"no \"x\""}}`,
		StringID(`a"b`): `{"jsonrpc":"2.0","id":"a\"b","error":{"code":-32600,"message":"no \"x\""}}`,
	} {
		if got := string(ErrorResponse(id, CodeInvalidRequest, `no "x"`)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// The scanner sees a message in pieces, so no split may change what it finds.
func TestScannerFindsTheIDInAnyPieces(t *testing.T) {
	for in, want := range map[string]ID{
		`{"id":1}`: "1",
		"\xef\xbb\xbf{ \"id\" : \"a\\\"}\" , \"x\":1}": `"a\"}"`,
		`{"params":{"id":5,"s":"\"id\":6"},"id":7}`:    "7",
		`{"params":{"id":5}}`:                          "",
		`{"id":1,"id":1}`:                              "",
		`{"id":1 2}`:                                   "",
		`{"id":{"id":3}}`:                              "",
		`{"id":[3]}`:                                   "",
		`{"x":"id","id":"ok","y":[{"id":9}]}`:          `"ok"`,
		`[{"id":1}]`:                                   "",
		`{"id":1`:                                      "",
		`{"id":1}{"id":2}`:                             "1",
		`xx{"id":1}`:                                   "",
	} {
		for split := range len(in) + 1 {
			var s IDScanner
			s.Write([]byte(in[:split]))
			s.Write([]byte(in[split:]))
			if got := s.ID(); got != want {
				t.Errorf("%s split at %d: got %q, want %q", in, split, got, want)
			}
		}
	}
}
