package enginetest

import (
	"context"
	"embed"
	"io/fs"
	"strings"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

//go:embed testdata/*.txtar
var cases embed.FS

// Traits say what an engine's interpreter can do, so that a case can ask for the right answer.
type Traits struct {
	Threads   bool
	Processes bool
	Network   bool

	// Hidden are strings that nothing which leaves the engine may hold, such as the path of its
	// cache and the name of its runtime.
	Hidden []string

	// Known maps the name of a case to the reason why this engine does not pass it. A case that
	// is known and passes is not reported, since the reason may hold on some machines only.
	Known map[string]string
}

// Run tests the engine that open returns, each case in a subtest of its name. Open is called once
// for each subtest and may return the same engine again, until the last subtest, contract/close,
// has closed it. Who closes the others is open's affair, as with Cleanup.
func Run(t *testing.T, traits Traits, open func(*testing.T) python.Engine) {
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) { runCase(t, traits, open, name) })
	}
	t.Run("contract", func(t *testing.T) { contract(t, traits, open) })
}

func runCase(t *testing.T, traits Traits, open func(*testing.T) python.Engine, name string) {
	if reason := traits.Known[name]; reason != "" {
		t.Skip(reason)
	}
	source, err := cases.ReadFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	script, err := parse(source)
	if err != nil {
		t.Fatal(err)
	}
	engine := open(t)
	have := abilities(traits, engine.Describe())
	for _, need := range script.requires {
		if !have.holds(need) {
			t.Skipf("this engine has no %s", need)
		}
	}
	for _, call := range script.calls {
		runCall(t, traits, have, engine, call)
	}
}

func names(t *testing.T) []string {
	t.Helper()
	var all []string
	entries, err := fs.ReadDir(cases, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), ".txtar"))
	}
	return all
}

func runCall(t *testing.T, traits Traits, have set, engine python.Engine, c call) {
	t.Helper()
	var outs []string
	for range c.repeat {
		req := c.request
		req.Limits = python.DefaultLimits().Narrow(engine.Describe().Limits).Narrow(c.request.Limits)
		out, err := within(t, engine, req)
		problems := append(promises(traits, req, out, err), c.judge(have, out, err)...)
		for _, problem := range problems {
			t.Errorf("call %s: %s", c.name, problem)
		}
		if len(problems) > 0 {
			t.Logf("call %s gave %s", c.name, describe(out, err))
			return
		}
		outs = append(outs, out.Stdout.Text)
	}
	for _, problem := range c.compare(outs) {
		t.Errorf("call %s: %s", c.name, problem)
	}
}

// patience is how long a call may take beyond its limit before the engine counts as hanging. It
// is no measure of speed: machines that run tests are busy.
const patience = 90 * time.Second

func within(t *testing.T, engine python.Engine, req python.Request) (python.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), req.Limits.Timeout+patience)
	defer cancel()
	return engine.Run(ctx, req)
}
