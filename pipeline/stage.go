package pipeline

import "iter"

// A Stage turns one sequence into another. It pulls only what it needs, owns its state
// for one run, flushes when its input ends, and stops its input by returning.
//
// A Stage value serves one run at a time. It starts no goroutine.
type Stage[In, Out any] func(iter.Seq[In]) iter.Seq[Out]

// Then puts two stages in a line: what first yields is what second reads.
func Then[A, B, C any](first Stage[A, B], second Stage[B, C]) Stage[A, C] {
	return func(in iter.Seq[A]) iter.Seq[C] { return second(first(in)) }
}
