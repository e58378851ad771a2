package cli

import "testing"

func TestSize(t *testing.T) {
	good := map[string]int64{
		"1": 1, "512MiB": 512 << 20, "64MB": 64e6, "1GiB": 1 << 30, "3KiB": 3 << 10, "7B": 7, "2KB": 2000,
		"8388607TiB": 0, // refused below: no such unit
	}
	for text, want := range good {
		var s size
		err := s.Set(text)
		if want == 0 {
			if err == nil {
				t.Errorf("%q was taken as %d", text, s)
			}
			continue
		}
		if err != nil || int64(s) != want {
			t.Errorf("%q: %d, %v, want %d", text, s, err, want)
		}
		var again size
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%q prints as %q, which reads as %d, %v", text, s.String(), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "+1", "1.5GiB", "MiB", "1 MiB", "9223372036854775807GiB", "0x10", "1mib", "99999999999999999999"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%q was taken as %d", text, s)
		}
	}
}
