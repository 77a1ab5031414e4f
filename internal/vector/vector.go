// Package vector does the inner loops of scanning and escaping with AVX2.
//
// Each function does whole blocks from the start of its input and says how many bytes it
// did. What is left, at the end and everywhere on machines without AVX2, is for the plain
// loop of the caller, which is the same work. So the plain loops are the reference, and
// the build tag purego leaves nothing but them. No function reads or writes past the end
// of a slice.
//
// All functions are pure and may run concurrently; [Enable] is for tests.
package vector

//go:generate sh -c "cd gen && go run . -out ../vector_amd64.s -stubs ../stubs_amd64.go -pkg vector"

const (
	// MarkBytes is how many bytes one word of [Marks] stands for.
	MarkBytes = 64
	// blockBytes is how many bytes the other functions take at once.
	blockBytes = 32
)

// Counts are how many bytes of a text an escaping makes longer.
type Counts struct {
	// Quotes counts quotes and backslashes.
	Quotes int
	// Shorts counts the control characters with an escape of two characters.
	Shorts int
	// Controls counts all control characters.
	Controls int
}
