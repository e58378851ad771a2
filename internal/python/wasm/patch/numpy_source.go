package patch

import _ "embed"

//go:embed numpy64.py
var numpySource string

// NumpySource is the Python half of the corrections to numpy. The build of an image runs it once,
// right after numpy is imported.
func NumpySource() string { return numpySource }
