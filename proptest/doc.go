// Package proptest proves the laws of the pipeline as properties. It holds a naive
// reference that keeps the whole input in memory and is obviously right, generators of
// hostile log streams and of ways to split them, and one property for each law.
//
// TAILRACE_CASES says how many cases a law is held against (1,000 by default). Each run
// prints its seed; TAILRACE_SEED replays it.
//
// The reference shares no code with what it judges.
package proptest
