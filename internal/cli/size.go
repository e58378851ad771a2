package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A size is a flag in bytes: 512MiB, 64MB, 1GiB, or a plain number.
type size int64

var units = [...]struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1},
}

func (s *size) Type() string { return "size" }

func (s *size) String() string {
	for _, u := range []int{2, 1, 0} {
		if n := units[u].bytes; *s != 0 && int64(*s)%n == 0 {
			return strconv.FormatInt(int64(*s)/n, 10) + units[u].name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > math.MaxInt64/unit:
		return fmt.Errorf("%q is too large", text)
	case err != nil, strings.HasPrefix(number, "+"):
		return fmt.Errorf("%q is not a size; write a whole number and one of the units B, KB, MB, GB, KiB, MiB, GiB, such as 512MiB", text)
	case n <= 0:
		return fmt.Errorf("%q is not above zero", text)
	}
	*s = size(n * unit)
	return nil
}
