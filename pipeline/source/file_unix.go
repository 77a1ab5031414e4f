//go:build unix

package source

import "syscall"

// nonblock keeps the opening of a pipe from waiting. Reads of regular files ignore it.
const nonblock = syscall.O_NONBLOCK
