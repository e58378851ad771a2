package main

import (
	"bytes"
	"fmt"
	"strings"
)

// A scene is one call and what must come back.
type scene struct {
	title   string
	code    string
	seconds float64 // lowers the time limit when above zero
	check   func(answer) error
}

func scenes() []scene {
	return []scene{
		{
			title: "hello",
			code:  "print('hello from the sandbox')",
			check: all(exits(0), prints("hello from the sandbox\n")),
		},
		{
			title: "a pandas computation",
			code: `import pandas as pd
frame = pd.DataFrame({"city": ["Oslo", "Rome", "Oslo", "Rome"], "sold": [3, 5, 7, 11]})
print(frame.groupby("city").sold.sum())`,
			check: all(exits(0), has("Oslo    10"), has("Rome    16")),
		},
		{
			title: "a matplotlib figure",
			code: `import numpy as np, matplotlib.pyplot as plt
x = np.linspace(0, 6.28, 200)
plt.plot(x, np.sin(x)); plt.title("sin"); plt.show()`,
			check: all(exits(0), drawsPNG),
		},
		{
			title: "a traceback",
			code: `def share(cake, guests):
    return cake / guests
share(1, 0)`,
			check: all(exits(1), warns("ZeroDivisionError"), warns("line 2, in share")),
		},
		{
			title: "a time-out, with what was printed before",
			code: `import time
print("half way", flush=True)
time.sleep(60)`,
			seconds: 1.5,
			check:   all(timesOut, prints("half way\n")),
		},
		{
			title: "a refused network call",
			code: `import urllib.request
urllib.request.urlopen("http://example.com/")`,
			check: all(exits(1), warns("Error")),
		},
		{
			title: "a refused host file",
			code:  `print(open("/etc/passwd").read())`,
			check: all(exits(1), prints(""), warns("/etc/passwd")),
		},
		{
			title: "something to remember ...",
			code: `secret = 42
print(secret, file=open("/tmp/note", "w"))`,
			check: exits(0),
		},
		{
			title: "... that the next call knows nothing of",
			code: `import os
print("secret" in globals(), os.path.exists("/tmp/note"))`,
			check: all(exits(0), prints("False False\n")),
		},
	}
}

func all(checks ...func(answer) error) func(answer) error {
	return func(a answer) error {
		for _, check := range checks {
			if err := check(a); err != nil {
				return err
			}
		}
		return nil
	}
}

func exits(code int) func(answer) error {
	return func(a answer) error {
		if a.ExitCode == nil || *a.ExitCode != code {
			return fmt.Errorf("the exit code is not %d", code)
		}
		return nil
	}
}

func prints(text string) func(answer) error {
	return func(a answer) error {
		if a.Stdout != text {
			return fmt.Errorf("stdout is %q, not %q", a.Stdout, text)
		}
		return nil
	}
}

func has(text string) func(answer) error {
	return func(a answer) error {
		if !strings.Contains(a.Stdout, text) {
			return fmt.Errorf("stdout lacks %q", text)
		}
		return nil
	}
}

func warns(text string) func(answer) error {
	return func(a answer) error {
		if !strings.Contains(a.Stderr, text) {
			return fmt.Errorf("stderr lacks %q", text)
		}
		return nil
	}
}

func timesOut(a answer) error {
	if !a.TimedOut || a.ExitCode != nil {
		return fmt.Errorf("the call did not run into its time limit")
	}
	return nil
}

func drawsPNG(a answer) error {
	if len(a.figures) != 1 || !bytes.HasPrefix(a.figures[0], []byte("\x89PNG\r\n\x1a\n")) {
		return fmt.Errorf("%d PNG figures came back, not one", len(a.figures))
	}
	return nil
}
