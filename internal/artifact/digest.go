package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// A Digest is a sha256 in 64 lower-case hexadecimal digits. The zero value names nothing.
type Digest string

// ParseDigest accepts exactly the form that Digest has, so that a digest is always safe as a file name.
func ParseDigest(s string) (Digest, error) {
	d := Digest(s)
	if !d.valid() {
		return "", fmt.Errorf("reading digest %.80q: want 64 lower-case hexadecimal digits", s)
	}
	return d, nil
}

// UnmarshalText lets a lock file hold nothing but well-formed digests.
func (d *Digest) UnmarshalText(b []byte) error {
	v, err := ParseDigest(string(b))
	if err == nil {
		*d = v
	}
	return err
}

func (d Digest) valid() bool {
	if len(d) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(d) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// digestOf reads r to its end, but at most limit bytes; more is an error.
func digestOf(r io.Reader, limit int64) (Digest, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, limit+1))
	if err != nil {
		return "", n, err
	}
	if n > limit {
		return "", n, fmt.Errorf("more than %d bytes", limit)
	}
	return Digest(hex.EncodeToString(h.Sum(nil))), n, nil
}
