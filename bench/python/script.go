package main

import (
	"fmt"
	"slices"
	"strings"
)

// A script is code that every rival runs unchanged.
type script struct {
	name string
	code string
	want string // what it prints
	// packages tells that it imports more than the standard library, which the plain design has only
	// with wheels that its npm package does not bring.
	packages bool
	writes   string // the file that it leaves in its working folder
}

func allScripts() []script {
	return []script{
		{name: "print", code: "print(1)\n", want: "1\n"},
		{name: "pandas", packages: true, want: "499500\n", code: `import pandas as pd
print(pd.DataFrame({"a": range(1000)}).a.sum())
`},
		{name: "figure", packages: true, want: "b'\\x89PNG'\n", writes: "figure.png", code: `import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
figure, (left, right) = plt.subplots(1, 2)
left.plot([x * x for x in range(100)])
right.bar(range(10), range(10))
figure.savefig("figure.png")
print(open("figure.png", "rb").read(4))
`},
		{name: "loop", want: "5999999\n", code: `total = 0
for i in range(3_000_000):
    total += i * i % 7
print(total)
`},
		{name: "matmul", packages: true, want: "500.0\n", code: `import numpy as np
a = np.full((500, 500), 1 / 500)
b = np.eye(500) + 1
for _ in range(10):
    b = a @ b
print(round(float(b.trace()) - 1, 3))
`},
	}
}

func scriptNames() []string {
	var names []string
	for _, s := range allScripts() {
		names = append(names, s.name)
	}
	return names
}

func chosenScripts(list string) ([]script, error) {
	var chosen []script
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(allScripts(), func(s script) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-scripts: %q is none of %s", name, strings.Join(scriptNames(), ", "))
		}
		chosen = append(chosen, allScripts()[i])
	}
	return chosen, nil
}

// sleepy is the script with a nap at its end, in which its memory can be looked at.
func (s script) sleepy(seconds float64) script {
	s.code += fmt.Sprintf("import time\ntime.sleep(%g)\n", seconds)
	return s
}

// timed is the script with the time before its first and after its last line as its last output.
func (s script) timed() script {
	s.code = "import time as _t; _a = _t.time_ns()\n" + s.code + "print(_a, _t.time_ns())\n"
	return s
}
