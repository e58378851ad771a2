package confine

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func deathFence() Fence {
	return Fence{Name: fenceDeath, Holds: true, Detail: "job object that ends with its last handle"}
}

// A tree is a job object. Every process that the program starts is in it, and the system ends
// them all when the handle is closed, also when we are killed.
type tree struct{ job windows.Handle }

func startTree(command *exec.Cmd) (tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return tree{}, fmt.Errorf("creating job object: %w", err)
	}
	t := tree{job: job}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
		LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
	}}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		t.close()
		return tree{}, fmt.Errorf("setting up job object: %w", err)
	}
	command.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	if err := command.Start(); err != nil {
		t.close()
		return tree{}, err
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(command.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		windows.CloseHandle(process)
	}
	if err != nil {
		command.Process.Kill()
		command.Wait()
		t.close()
		return tree{}, fmt.Errorf("putting program into job object: %w", err)
	}
	return t, nil
}

// killed is the exit status of a job that we ended: what a signal is elsewhere.
const killed = 0xdead

func (t tree) kill() { windows.TerminateJobObject(t.job, killed) }

func (t tree) close() { windows.CloseHandle(t.job) }

func exitOf(state *os.ProcessState) Exit {
	exit := Exit{Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
	if exit.Code == killed {
		exit.Code, exit.Signal = -1, syscall.SIGKILL
	}
	return exit
}
