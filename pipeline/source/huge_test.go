package source

import (
	"bytes"
	"testing"
)

// The hint changes nothing of a buffer, wherever it lies and however long it is.
func TestUseHugePages(t *testing.T) {
	const page = 2 << 20
	all := bytes.Repeat([]byte{7}, 5*page)
	for _, from := range []int{0, 1, page - 1, page, page + 4096} {
		for _, size := range []int{0, 1, page - 1, page, page + 1, 3 * page} {
			useHugePages(all[from : from+size])
		}
	}
	if bytes.Count(all, []byte{7}) != len(all) {
		t.Error("bytes have changed")
	}
}
