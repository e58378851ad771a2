package cli

import (
	"context"
	"fmt"
	"strings"

	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/doctor"
)

// fences tries each fence of the belt around our own program. An engine's own report may differ by
// what its runtime needs.
func fences(ctx context.Context) ([]doctor.Fence, string) {
	report := confine.Probe(ctx, "")
	list := make([]doctor.Fence, 0, len(report.Fences))
	for _, f := range report.Fences {
		list = append(list, doctor.Fence{Name: f.Name, Holds: f.Holds, Detail: f.Detail, Why: f.Why, Remedy: f.Remedy})
	}
	missing := report.Missing()
	if len(missing) == 0 && len(list) > 0 {
		return list, fmt.Sprintf("all %d fences of the belt hold", len(list))
	}
	names := make([]string, len(missing))
	for i, f := range missing {
		names[i] = f.Name
	}
	return list, fmt.Sprintf("%d of %d fences hold; missing: %s", len(list)-len(missing), len(list), strings.Join(names, ", "))
}
