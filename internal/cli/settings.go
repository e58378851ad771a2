package cli

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sallyport.dev/sallyport/internal/fault"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/transport"
)

// Settings are what a Python server was started with, after flags, environment and token file were
// read. They cross the restart that seals the process, so everything is plain data.
type Settings struct {
	Engine       string
	Image        string
	Cache        string
	Limits       python.Limits // ceilings; the zero value of a field means the default
	MaxCalls     int           // 0: as many as the machine suits
	Queue        int
	HTTP         string // address; empty means stdio
	Token        string // bearer token for HTTP, never logged
	AllowHosts   []string
	AllowOrigins []string
	AllowWeaker  bool
	Serving      bool // a server, which profits from what one call would not
	LogLevel     slog.Level
}

// settingFlags are the flags behind Settings.
type settingFlags struct {
	settings  Settings
	memory    size
	scratch   size
	tokenFile string
	tokenEnv  string
	logLevel  string
}

func (f *settingFlags) register(p *Program, cmd *cobra.Command) {
	usual := python.DefaultLimits()
	f.memory, f.scratch = size(usual.Memory), size(usual.Scratch)
	s, flags := &f.settings, cmd.PersistentFlags()
	flags.StringVar(&s.Engine, "engine", automatic, "engine: "+strings.Join(p.engineNames(), ", "))
	flags.StringVar(&s.Image, "image", defaultImage, "name of the prepared image")
	flags.StringVar(&s.Cache, "cache", "", "folder that setup filled (default $"+cacheVariable+", or the user's cache folder)")
	flags.DurationVar(&s.Limits.Timeout, "timeout", usual.Timeout, "wall-clock limit of a call; a request may only lower it")
	flags.Var(&f.memory, "memory", "memory of a call")
	flags.Var(&f.scratch, "scratch", "disk of a call, /workspace and /tmp together")
	flags.IntVar(&s.Limits.OutputChars, "output-chars", usual.OutputChars, "characters kept of stdout and of stderr")
	flags.BoolVar(&s.AllowWeaker, "allow-weaker-belt", false, "run although a fence is missing here; doctor names them")
	flags.StringVar(&f.logLevel, "log-level", "warn", "what goes to stderr: debug, info, warn, error")
	fixed(cmd, "engine", p.engineNames())
	fixed(cmd, "log-level", []string{"debug", "info", "warn", "error"})
	folders(cmd, "cache")
}

func (f *settingFlags) registerServer(cmd *cobra.Command) {
	s, flags := &f.settings, cmd.Flags()
	flags.IntVar(&s.MaxCalls, "max-calls", 0, "calls at once (default by the number of processors)")
	flags.IntVar(&s.Queue, "queue", 32, "calls that may wait; more get the answer busy")
	flags.StringVar(&s.HTTP, "http", "", "serve Streamable HTTP at this address instead of stdio, such as 127.0.0.1:8080")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the bearer token that HTTP clients must send")
	files(cmd, "token-file")
	flags.StringVar(&f.tokenEnv, "token-env", "", "environment variable with that token")
	flags.StringArrayVar(&s.AllowHosts, "allow-host", nil, "name under which HTTP clients may reach the server (repeatable)")
	flags.StringArrayVar(&s.AllowOrigins, "allow-origin", nil, "web origin that may call the server (repeatable)")
}

// read turns the flags into settings, and the environment and the token file with them.
func (f *settingFlags) read(p *Program) (Settings, error) {
	s := f.settings
	s.Limits.Memory, s.Limits.Scratch = int64(f.memory), int64(f.scratch)
	if err := s.LogLevel.UnmarshalText([]byte(f.logLevel)); err != nil {
		return s, fault.New(fault.Usage, "use debug, info, warn or error", "--log-level %q is unknown", f.logLevel)
	}
	if !slices.Contains(p.engineNames(), s.Engine) {
		return s, fault.New(fault.Usage, "use one of "+strings.Join(p.engineNames(), ", "), "--engine %q is unknown", s.Engine)
	}
	for _, check := range []struct {
		flag    string
		ok      bool
		allowed string
	}{
		{"--timeout", s.Limits.Timeout >= 100*time.Millisecond, "of 100ms or more"},
		{"--memory", f.memory >= 16<<20 && f.memory <= 3<<30, "from 16MiB to 3GiB"}, // the guest's addresses have 32 bits
		{"--scratch", f.scratch >= 1<<20, "of 1MiB or more"},
		{"--output-chars", s.Limits.OutputChars > 0, "of 1 or more"},
		{"--max-calls", s.MaxCalls >= 0, "of 1 or more, or 0 for the number that suits this machine"},
		{"--queue", s.Queue >= 0, "of 0 or more"},
	} {
		if !check.ok {
			return s, fault.New(fault.Usage, "give a value "+check.allowed, "%s is out of range: it takes a value %s", check.flag, check.allowed)
		}
	}
	if err := s.checkWeb(); err != nil {
		return s, err
	}
	if !validImage(s.Image) {
		return s, fault.New(fault.Usage, "use letters, digits, - and _", "--image %q is not a name", s.Image)
	}
	var err error
	if s.Cache, err = p.Environ.cacheDir(s.Cache); err != nil {
		return s, err
	}
	s.Token, err = f.token(p)
	return s, err
}

// checkWeb refuses what only HTTP clients could meet on stdio, and origins that no browser sends.
func (s Settings) checkWeb() error {
	switch hint := "add --http ADDR, or leave it out"; {
	case s.HTTP != "":
	case len(s.AllowHosts) > 0:
		return fault.New(fault.Usage, hint, "--allow-host has no meaning on stdio")
	case len(s.AllowOrigins) > 0:
		return fault.New(fault.Usage, hint, "--allow-origin has no meaning on stdio")
	}
	for _, origin := range s.AllowOrigins {
		if !validOrigin(origin) {
			return fault.New(fault.Usage, "write scheme://host or scheme://host:port, such as https://app.example.org", "--allow-origin %q is no web origin", origin)
		}
	}
	return nil
}

// validOrigin is true for what a browser could send: no path, no pattern, no final slash. Anything else
// would be taken and then never match.
func validOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme != "" && u.Hostname() != "" && !strings.HasSuffix(u.Host, ":") &&
		!strings.Contains(u.Host, "*") && strings.EqualFold(origin, u.Scheme+"://"+u.Host)
}

func (f *settingFlags) token(p *Program) (string, error) {
	var token, from string
	switch {
	case f.tokenFile != "" && f.tokenEnv != "":
		return "", fault.New(fault.Usage, "use one of them", "--token-file and --token-env exclude each other")
	case f.tokenFile != "":
		raw, err := readSmall(f.tokenFile)
		if err != nil {
			return "", fault.New(fault.Usage, "", "reading --token-file: %w", err)
		}
		token, from = strings.TrimSpace(string(raw)), "--token-file"
	case f.tokenEnv != "":
		value, _ := p.Environ.lookup(f.tokenEnv)
		token, from = strings.TrimSpace(value), "--token-env"
	default:
		return "", nil
	}
	if f.settings.HTTP == "" {
		return "", fault.New(fault.Usage, "add --http ADDR, or leave the token out", "%s has no meaning on stdio", from)
	}
	if _, err := transport.NewToken([]byte(token)); err != nil {
		return "", fault.New(fault.Usage, "use a long random word, such as openssl rand -hex 32 prints", "reading %s: %w", from, err)
	}
	return token, nil
}

// readSmall reads a file of at most 64 KiB, so that a wrong path (a device, a disk image) does no harm.
func readSmall(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 64 << 10
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return raw, err
}

// defaultImage is what setup makes without flags.
const defaultImage = "default"

// validImage keeps image names to what can never be a path.
func validImage(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
			return false
		}
	}
	return true
}
