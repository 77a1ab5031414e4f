//go:build !amd64 || purego

package vector

// Enable does nothing: there is only the plain way.
func Enable(bool) (was bool) { return false }

// On says that the functions do nothing.
func On() bool { return false }

// Marks does nothing.
func Marks([]uint64, []byte) (n int, high bool) { return 0, false }

// Count does nothing.
func Count([]byte) (c Counts, n int, high bool) { return c, 0, false }

// Escape does nothing.
func Escape(_, _ []byte) (written, read int, high bool) { return 0, 0, false }

// Commas does nothing.
func Commas(_, _ []byte) (n int) { return 0 }
