package python

import "cmp"

// Narrow returns the stricter of two sets of limits, field by field. A zero field sets no limit.
func (l Limits) Narrow(by Limits) Limits {
	return Limits{
		Timeout:      stricter(l.Timeout, by.Timeout),
		OutputChars:  stricter(l.OutputChars, by.OutputChars),
		Memory:       stricter(l.Memory, by.Memory),
		Scratch:      stricter(l.Scratch, by.Scratch),
		ScratchFiles: stricter(l.ScratchFiles, by.ScratchFiles),
		Artifacts:    stricter(l.Artifacts, by.Artifacts),
		ArtifactSize: stricter(l.ArtifactSize, by.ArtifactSize),
		InputSize:    stricter(l.InputSize, by.InputSize),
	}
}

// Filled puts a default where no limit is set, so that nothing is ever without one.
func (l Limits) Filled() Limits {
	d := DefaultLimits()
	return Limits{
		Timeout:      positive(l.Timeout, d.Timeout),
		OutputChars:  positive(l.OutputChars, d.OutputChars),
		Memory:       positive(l.Memory, d.Memory),
		Scratch:      positive(l.Scratch, d.Scratch),
		ScratchFiles: positive(l.ScratchFiles, d.ScratchFiles),
		Artifacts:    positive(l.Artifacts, d.Artifacts),
		ArtifactSize: positive(l.ArtifactSize, d.ArtifactSize),
		InputSize:    positive(l.InputSize, d.InputSize),
	}
}

func stricter[T cmp.Ordered](a, b T) T {
	var zero T
	switch {
	case a <= zero:
		return b
	case b <= zero:
		return a
	}
	return min(a, b)
}

func positive[T cmp.Ordered](v, otherwise T) T {
	var zero T
	if v <= zero {
		return otherwise
	}
	return v
}
