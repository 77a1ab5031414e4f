package source

import (
	"io"
	"os"
)

// Stdin returns standard input as a source. A read that is under way when the run is
// stopped ends with the process.
func Stdin() (*Reader, error) {
	// Without its other methods: a stop must not close the process's own stdin.
	return NewReader(struct{ io.Reader }{os.Stdin}), nil
}
