package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	const in = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: no such thing here\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
not json
{"Action":"fail","Package":"crashed"}
{"Action":"skip","Package":"no tests"}
`
	var out bytes.Buffer
	c, err := read(strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	if c.passed != 1 || c.failed != 2 || c.skipped != 1 {
		t.Errorf("%+v, want 1 passed, 2 failed (a test, and a package that crashed), 1 skipped", c)
	}
	if want := []string{"p.TestA: no such thing here"}; !slices.Equal(c.reasons, want) {
		t.Errorf("reasons %v, want %v", c.reasons, want)
	}
	for _, want := range []string{"got 1, want 2", "not json", "FAIL    crashed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
