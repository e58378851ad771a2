package confine

import (
	"os"
	"testing"
)

// benchProgram is a program that ends at once. SALLYPORT_BENCH_PROGRAM names another.
func benchProgram(b *testing.B) (string, []string) {
	if program := os.Getenv("SALLYPORT_BENCH_PROGRAM"); program != "" {
		return program, []string{"--version"}
	}
	for _, program := range []string{"/bin/true", "/usr/bin/true"} {
		if _, err := os.Stat(program); err == nil {
			return program, nil
		}
	}
	b.Skip("no program to start")
	return "", nil
}

func BenchmarkPlainStart(b *testing.B) {
	program, args := benchProgram(b)
	for b.Loop() {
		plain(b, program, args)
	}
}

func BenchmarkBox(b *testing.B) {
	program, args := benchProgram(b)
	for _, mode := range modes() {
		b.Run(mode.name, func(b *testing.B) {
			belt := mode.prepare(b, Spec{Program: program, Scratch: []Scratch{{"work", 1 << 20, 100}, {"tmp", 1 << 20, 100}}})
			for b.Loop() {
				box, err := belt.Open(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				process, err := box.Start(Command{Args: args})
				if err != nil {
					b.Fatal(err)
				}
				if exit := process.Wait(); exit.Code != 0 {
					b.Fatalf("%+v", exit)
				}
				if err := box.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen is what can be done ahead of a call.
func BenchmarkOpen(b *testing.B) {
	program, _ := benchProgram(b)
	for _, mode := range modes() {
		b.Run(mode.name, func(b *testing.B) {
			belt := mode.prepare(b, Spec{Program: program, Scratch: []Scratch{{"work", 1 << 20, 100}, {"tmp", 1 << 20, 100}}})
			for b.Loop() {
				box, err := belt.Open(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if err := box.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
