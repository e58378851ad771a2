package patch

import _ "embed" // for the Python part of the patch

//go:embed numpy64.py
var numpySource string

// NumpySource returns the Python part of numpy's patch: the source of a module that the build
// script imports right after numpy and before any other package.
func NumpySource() string { return numpySource }

// NumpyNote is what the description of the tool says about numpy's integers.
const NumpyNote = "numpy's default integer has 64 bits, as on 64-bit Linux; only array.array('l') and a few index arrays that packages return have dtype int32, so convert these with .astype(int) before large products."
