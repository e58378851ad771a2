package artifact

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	projectForm = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$`)
	// PEP 440 with its canonical spellings; leading zeros are let through, since calendar versions
	// are often written so.
	versionForm = regexp.MustCompile(`^(?:[0-9]{1,6}!)?[0-9]{1,14}(?:\.[0-9]{1,14}){0,8}(?:(?:a|b|rc)[0-9]{1,9})?(?:\.post[0-9]{1,9})?(?:\.dev[0-9]{1,9})?(?:\+[a-z0-9]{1,30}(?:\.[a-z0-9]{1,30}){0,8})?$`)
	separators  = regexp.MustCompile(`[-_.]+`)
)

// parsePin takes "name==version" and nothing else. What a requirements file may hold besides
// (options, addresses, ranges, extras, markers) would change what is fetched, or from where.
func parsePin(pin string) (project, version string, err error) {
	project, version, ok := strings.Cut(pin, "==")
	if !ok || !projectForm.MatchString(project) || !versionForm.MatchString(version) {
		return "", "", fmt.Errorf("reading package %.100q: want name==version with an exact version, such as humanize==4.13.0; ranges, extras, options and addresses are not taken", pin)
	}
	return NormalProject(project), version, nil
}

// CheckPin says what is wrong with a pin before anything is opened or fetched for it.
func CheckPin(pin string) error {
	_, _, err := parsePin(pin)
	return err
}

// NormalProject is the one spelling of a project's name that PEP 503 defines.
func NormalProject(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// sameVersion compares as PEP 440 does where spellings differ: 2024.07 is 2024.7 and 1.0 is 1.0.0.
func sameVersion(a, b string) bool { return normalVersion(a) == normalVersion(b) }

var (
	leadingZeros  = regexp.MustCompile(`(^|[.!]|[a-z])0+([0-9])`)
	trailingZeros = regexp.MustCompile(`^((?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*?)(?:\.0+)+($|[^.0-9]|\.[a-z])`)
)

func normalVersion(v string) string {
	public, local, _ := strings.Cut(v, "+")
	public = leadingZeros.ReplaceAllString(public, "$1$2")
	public = trailingZeros.ReplaceAllString(public, "$1$2")
	return strings.TrimPrefix(public, "0!") + "+" + local
}
