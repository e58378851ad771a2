package confine

import "testing"

func TestProbe(t *testing.T) {
	report := Probe(t.Context(), attackProgram(t))
	t.Log(report.Summary())
	t.Logf("%+v", Probe(t.Context(), ""))
}
