// Package doctor says what this host really enforces, as a table for people and as one JSON document.
//
// It renders facts; it finds out none of them, except for credential files that lie where they must
// not. Each fact was proven by whoever brought it (confine by a real denied act, the engine by its own
// check). It refuses to soften: a fence that does not hold is printed with the reason and the remedy.
package doctor

// A Report is everything that doctor knows. The JSON names are an interface.
type Report struct {
	Version     string       `json:"version"`
	Platform    string       `json:"platform"` // goos/goarch
	Kernel      string       `json:"kernel,omitempty"`
	User        string       `json:"user"` // "root" or "ordinary"
	Cache       string       `json:"cache"`
	Summary     string       `json:"summary"`
	Fences      []Fence      `json:"fences"`
	Engines     []Engine     `json:"engines"`
	Credentials []Credential `json:"credentials"`
}

// A Fence is one thing that stands between guest code and the host.
type Fence struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail,omitempty"` // such as "ABI 7"
	Why    string `json:"why,omitempty"`    // why it does not hold
	Remedy string `json:"remedy,omitempty"` // what it would take
}

// An Engine is one way to run Python.
type Engine struct {
	Name       string     `json:"name"`
	Default    bool       `json:"default"`
	Ready      bool       `json:"ready"`
	Why        string     `json:"why,omitempty"` // why it is not ready, and the command that helps
	Python     string     `json:"python,omitempty"`
	Runtime    string     `json:"runtime,omitempty"` // such as "wasmtime 49.0.3"
	Belt       string     `json:"belt,omitempty"`
	Images     []Image    `json:"images"`
	Advisories []Advisory `json:"advisories"`
}

// An Image is a prepared memory image in the cache.
type Image struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	Packages int    `json:"packages"`
	Usable   bool   `json:"usable"`
	Why      string `json:"why,omitempty"`
}

// An Advisory is a public warning about the runtime in use.
type Advisory struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Covered bool   `json:"covered"` // by the belt, or by what the guest cannot reach
	Why     string `json:"why"`
}

// A Credential is a file that should not lie where guest processes or thieves look first.
type Credential struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Healthy says whether the default engine can run now.
func (r Report) Healthy() bool {
	for _, e := range r.Engines {
		if e.Default {
			return e.Ready
		}
	}
	return false // no default engine is no engine
}
