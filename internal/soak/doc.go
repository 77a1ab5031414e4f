// Package soak runs the server for a long time, with calls of every kind side by side and
// faults among them. Each command that a call runs says what its outcome must be; in the
// end memory, descriptors, threads and processes must be where they were after the
// warm-up.
//
// Its test takes 15 s. TAILRACE_SOAK sets another duration, as in 10m, and
// TAILRACE_SOAK_SEED the seed, which is printed. `make soak` runs it for 10 minutes.
package soak
