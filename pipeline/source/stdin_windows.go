package source

import "os"

// Stdin returns standard input as a source. A read that is under way when the run is
// stopped ends with the process.
func Stdin() (*Reader, error) { return NewReader(os.Stdin), nil }
