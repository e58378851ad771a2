package cli

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
)

// Confine enters a user namespace when an ordinary user needs one for the private view. The restart
// gets our arguments as they are, so the settings are put on the descriptor that they name.
func (s sealer) Confine(settings Settings, descriptor int) error {
	pipe, err := handOver(settings)
	if err != nil {
		return err
	}
	// Closed on return: an open pipe would be one more thing that leaks into interpreters.
	defer pipe.Close()
	if own := int(pipe.Fd()); own == descriptor {
		_, err = unix.FcntlInt(uintptr(own), unix.F_SETFD, 0)
	} else {
		err = unix.Dup3(own, descriptor, 0)
		defer unix.Close(descriptor)
	}
	if err != nil {
		return fmt.Errorf("handing the settings over: %w", err)
	}
	s.Enter(settings.Cache)
	return nil
}

// Enter checks the way to the cache first: inside, every owner but ourselves looks the same. What is
// not safe is not entered with, so that the strict check comes again when the cache is opened, and
// refuses. An error of entering means that this host gives no namespace: then the belt is made of what
// is left, and says itself what is missing, or refuses.
func (s sealer) Enter(cache string) {
	if artifact.CheckFolder(cache) == nil {
		_ = confine.EnterUserNamespace(s.executable)
	}
}

// ordinaryUser tells root from an ordinary user, who is root in a namespace after Enter.
func ordinaryUser() bool {
	raw, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return os.Geteuid() != 0
	}
	fields := strings.Fields(string(raw))
	everyUser := len(fields) == 3 && fields[0] == "0" && fields[1] == "0" && fields[2] == "4294967295"
	return os.Geteuid() != 0 || !everyUser
}
