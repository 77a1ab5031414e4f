//go:build amd64 && !purego

package utf8cut

import (
	"unsafe"

	"github.com/segmentio/asm/utf8"

	"github.com/tailrace/tailrace/internal/vector"
)

// vectorBytes is from which length on the vector unit is used: it takes that much at once.
const vectorBytes = 32

// Valid says whether b is UTF-8 (RFC 3629: no surrogates, nothing overlong, at most U+10FFFF).
func Valid(b []byte) bool {
	if len(b) >= vectorBytes && vector.On() {
		return utf8.Valid(hidden(b))
	}
	return valid(b)
}

// hidden is b, hidden from escape analysis. The assembly behind utf8.Valid keeps nothing,
// but is not declared so, and would move the buffers of all callers to the heap. A function
// that may not split its stack is not interrupted either, so that a buffer on the stack
// stays in its place while its address is a number; inlined, it would lose that.
//
//go:nosplit
//go:noinline
func hidden(b []byte) []byte {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), len(b))
}
