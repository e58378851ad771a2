package advisory

import (
	"fmt"
	"regexp"
	"strconv"
)

// A version is major, minor, patch. A pre-release sorts before its release.
type version struct {
	n   [3]int
	pre bool
}

var versionForm = regexp.MustCompile(`^([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})(-[0-9A-Za-z.-]{1,40})?(?:\+[0-9A-Za-z.-]{1,40})?$`)

func parseVersion(s string) (version, error) {
	m := versionForm.FindStringSubmatch(s)
	if m == nil {
		return version{}, fmt.Errorf("reading runtime version %.40q: want three numbers", s)
	}
	var v version
	for i := range v.n {
		v.n[i], _ = strconv.Atoi(m[i+1]) // at most six digits, by the form
	}
	v.pre = m[4] != ""
	return v, nil
}

func (v version) before(w version) bool {
	for i := range v.n {
		if v.n[i] != w.n[i] {
			return v.n[i] < w.n[i]
		}
	}
	return v.pre && !w.pre
}
