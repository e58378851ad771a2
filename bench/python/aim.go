package main

// An aim is a promise in numbers. The rival is the better of the ways through MCP for nobody: stdio is
// judged, which is what most clients use.
type aim struct {
	Text string `json:"aim"`
	// Ratio is how the medians (for processor time: the means) compare, and Want its limit.
	Ratio float64 `json:"ratio"`
	Want  float64 `json:"want"`
	Met   bool    `json:"met"`
}

// judge lists the aims for which both sides were measured.
func judge(r *report) []aim {
	find := func(script, rival string) (latency, bool) {
		for _, l := range r.Latencies {
			if l.Script == script && l.Rival == rival {
				return l, true
			}
		}
		return latency{}, false
	}
	median := func(l latency) float64 { return l.Median }
	cpu := func(l latency) float64 { return l.CPU }
	var aims []aim
	atLeast := func(text, script, rival string, value func(latency) float64, want float64) {
		x, ok := find(script, rival)
		us, ours := find(script, "stdio")
		if ok && ours && value(x) > 0 && value(us) > 0 {
			got := value(x) / value(us)
			aims = append(aims, aim{text, got, want, got >= want})
		}
	}
	atLeast("print(1): times faster than the plain design, at least", "print", "plain", median, 200)
	if bare, ok := find("print", "native"); ok && bare.Median > 0 {
		if us, ok := find("print", "stdio"); ok {
			got := us.Median / bare.Median
			aims = append(aims, aim{"print(1): times the time of bare CPython, at most", got, 2.5, got <= 2.5})
		}
	}
	atLeast("pandas: times faster than bare CPython, at least", "pandas", "native", median, 12)
	atLeast("figure: times faster than bare CPython, at least", "figure", "native", median, 2)
	atLeast("print(1): times less processor time than the plain design, at least", "print", "plain", cpu, 200)
	return aims
}
