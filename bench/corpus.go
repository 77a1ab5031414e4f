// Package bench measures the hot path: 8 MiB of log events from a child process to the
// bytes of a finished result, beside the plain ways to do the same.
package bench

import "github.com/tailrace/tailrace/internal/corpus"

// Size is how large a corpus is, in bytes: just under the capture limit, so that a run
// over it is complete.
const Size = corpus.Size

// A Corpus is one kind of input.
type Corpus = corpus.Corpus

// Corpora are the inputs, from the most typical to the odd ones.
var Corpora = corpus.All
