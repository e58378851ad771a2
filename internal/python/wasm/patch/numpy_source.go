package patch

import _ "embed" // for the Python part of the patch

//go:embed numpy64.py
var numpySource string

// NumpySource returns the Python part of numpy's patch: the source of a module that the build
// script imports right after numpy and before any other package.
func NumpySource() string { return numpySource }
