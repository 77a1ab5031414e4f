package pipeline

// Stream names one of the two streams of a source.
type Stream uint8

const (
	// Stdout is the stream that carries events. It is the zero value.
	Stdout Stream = iota
	// Stderr is the stream that carries diagnostics.
	Stderr
)

// String returns "stdout" or "stderr".
func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// A Chunk is a piece of one stream, in the order in which it was read. Its borders
// mean nothing: a chunk may end inside a line or inside a code point.
type Chunk struct {
	// Stream says which stream the bytes belong to.
	Stream Stream
	// Data holds the bytes. They stay valid and unchanged until the source is closed,
	// and the receiver must not write to them or past their end.
	Data []byte
	// Cut marks the end of a sequence that was ended by a bound and not by its source.
	// It is set on the last chunk only, whose Data may be empty, and speaks for both
	// streams: what follows in them is missing.
	Cut bool
}
