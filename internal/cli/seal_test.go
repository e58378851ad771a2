package cli

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

func TestSealedArgs(t *testing.T) {
	tests := []struct{ in, want string }{
		{"sallyport", "sallyport --sealed=7"},
		{"sallyport python exec -- --sealed=3", "sallyport --sealed=7 python exec -- --sealed=3"},
		{"sallyport --sealed=3 python", "sallyport --sealed=7 python"},
	}
	for _, tt := range tests {
		if got := strings.Join(sealedArgs(strings.Fields(tt.in), 7), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestHandOver(t *testing.T) {
	want := Settings{
		Engine: "wasm", Cache: "/c", Token: "0123456789abcdef", AllowHosts: []string{"h"}, HTTP: "[::1]:1",
		Limits: python.Limits{Timeout: 3 * time.Second, Memory: 1 << 30}, AllowWeaker: true, LogLevel: 4,
	}
	r, err := handOver(want)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := readSettings(r)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestHandOverRefusesWhatAPipeMightNotTake(t *testing.T) {
	if r, err := handOver(Settings{AllowHosts: []string{strings.Repeat("h", mostSettings)}}); err == nil {
		r.Close()
		t.Error("oversized settings were handed over; on some systems that write never ends")
	}
}

func TestTakeOverRefusesStandardDescriptors(t *testing.T) {
	for _, d := range []int{-1, 0, 1, 2} {
		if _, err := takeOver(d); err == nil {
			t.Errorf("descriptor %d was taken", d)
		}
	}
}
