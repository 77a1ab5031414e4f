// Package source has the places that bytes come from: a child process, a file (whole, or
// followed across rotation), standard input, any reader. Each is a [pipeline.Source].
//
// # Child processes
//
// [Start] runs a command without a shell, with empty stdin, as the leader of a process
// group of its own. Stopping it means: SIGTERM and SIGCONT to the group, then SIGKILL to
// the group after a grace. What it still writes is read and thrown away, so that it can
// not block. Nothing of the group outlives [Child.Close].
//
// Nothing of it outlives this process either, not even when this process is killed. On
// Linux the leader has a parent-death signal. For the rest of the group this executable
// is started once more as a small guard process, which learns of each group over a pipe
// and ends what is left when the pipe closes. That start happens in an init function,
// before main, and only under a name and a variable that nothing else sets: a program
// that uses this package has nothing to call. Initialization of packages that comes
// before it runs in the guard as well. Where no guard can be started, [Child.Guarded]
// says so. What leaves the group (setsid) is nobody's to end; our ends of its pipes are
// closed all the same.
//
// On darwin the guard covers the leader, too, since there is no parent-death signal. On
// Windows a job object takes the place of group and guard: a stop ends it at once, batch
// files are refused, and what the command starts before it is put into the job stays
// outside.
//
// A program that handles SIGPIPE uses signal.Notify for it, not signal.Ignore: ignored
// signals are inherited by children.
package source
