package source

import (
	"os"

	"golang.org/x/sys/unix"
)

// widen makes a pipe as large as one read. A child that writes fast then costs a quarter
// of the wake-ups. Where the system refuses, the pipe works as it is.
func widen(f *os.File) { unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, largestRead) }

// bytesReady is the request that asks a pipe how many bytes lie in it.
const bytesReady = unix.TIOCINQ
