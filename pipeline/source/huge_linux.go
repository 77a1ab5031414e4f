package source

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is what the processor maps at once where it can, in bytes.
const hugePage = 2 << 20

// useHugePages asks the system to map a buffer in large pages. With those of 4 KiB the first
// use of 8 MiB is 2,048 faults, which cost more than reading into it. It is a hint: nothing
// depends on it.
func useHugePages(b []byte) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	from := (at + hugePage - 1) &^ (hugePage - 1)
	to := (at + uintptr(len(b))) &^ (hugePage - 1)
	if from < to {
		_ = unix.Madvise(b[from-at:to-at], unix.MADV_HUGEPAGE)
	}
}
