package procgroup

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Group is a started process and all that it starts, in a job object that ends with
// this process. A process that the leader starts before it is put into the job stays
// outside. Its methods are safe for concurrent use.
type Group struct {
	pid     int
	process windows.Handle
	job     windows.Handle

	mu       sync.Mutex
	released bool
}

// Start starts the leader of a new group.
func Start(s Spec) (*Group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	if err := limit(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	pid, handle, err := syscall.StartProcess(s.Path, s.Args, &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   s.Env,
		Files: []uintptr{s.Files[0].Fd(), s.Files[1].Fd(), s.Files[2].Fd()},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	g := &Group{pid: pid, process: windows.Handle(handle), job: job}
	if err := windows.AssignProcessToJobObject(job, g.process); err != nil {
		windows.TerminateProcess(g.process, 1)
		windows.CloseHandle(g.process)
		windows.CloseHandle(job)
		return nil, err
	}
	return g, nil
}

// Pid returns the process id of the leader.
func (g *Group) Pid() int { return g.pid }

// Wait waits until the leader has exited and returns its exit code.
func (g *Group) Wait() (int, error) {
	if _, err := windows.WaitForSingleObject(g.process, windows.INFINITE); err != nil {
		return 0, err
	}
	var code uint32
	if err := windows.GetExitCodeProcess(g.process, &code); err != nil {
		return 0, err
	}
	return int(code), nil
}

// Terminate ends the group at once: Windows has no signal that asks a tree to end.
func (g *Group) Terminate() { g.Kill() }

// Kill ends the group.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		windows.TerminateJobObject(g.job, 1)
	}
}

// Guarded says true: the system ends the job when this process ends.
func (g *Group) Guarded() bool { return true }

// Keep says that the group is to stay after Release.
func (g *Group) Keep() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		_ = limit(g.job, 0) // Else the group ends, as it does after every stop.
	}
}

// limit sets the limit flags of a job.
func limit(job windows.Handle, flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags},
	}
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// Alive says whether a process of the group is alive.
func (g *Group) Alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.released {
		return false
	}
	var info struct {
		totalUser, totalKernel, periodUser, periodKernel int64
		faults, total, active, terminated                uint32
	}
	const basicAccounting = 1
	err := windows.QueryInformationJobObject(g.job, basicAccounting, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.active > 0
}

// Release closes the job, which ends what is left in it.
func (g *Group) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.released {
		return
	}
	g.released = true
	windows.CloseHandle(g.job)
	windows.CloseHandle(g.process)
}

// Exists says whether any process is in the group. After Release none is.
func (g *Group) Exists() bool { return g.Alive() }
