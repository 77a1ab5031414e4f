// Package pipeline is the frame of a bounded log pipeline: chunks of bytes go in at
// one end, elements come out at the other, and the run ends in exactly one [Outcome].
//
// # The line
//
// A [Source] yields [Chunk] values. A [Stage] turns one sequence into another. A run
// is a straight line of them, and [Run] drives it. Data goes one way. Only the wish to
// stop goes back, and it goes back by not asking for more: a stage that has enough
// returns, the one before it sees its yield refuse, and the source stops what it
// started. There is no goroutine, channel or lock inside a chain, so a stage is tested
// with slices.Collect(stage(slices.Values(in))).
//
// # Ends and cuts
//
// A sequence that just ends has ended by itself: stages flush what they hold. A
// sequence that was ended by a bound says so in its last chunk, with [Chunk.Cut]:
// stages then drop what is incomplete. That one bit is what keeps a cut honest.
//
// # Memory
//
// The bytes of a chunk stay valid and unchanged until the source is closed. Stages
// keep sub-slices instead of copies. Nobody writes to them.
//
// # Laws
//
// Each stage, and each chain of stages, keeps these laws. A property of the same name
// tests each of them.
//
//   - chunk-invariance: splitting the same bytes differently changes nothing.
//   - code-point: no cut falls inside a UTF-8 code point or an escape sequence.
//   - whole-event-prefix: what is returned is a prefix of what was written, in whole events.
//   - exact-size: the size that was counted is the size that is written.
//   - maximality: one event or code point more would break the limit.
//   - budget-monotone: a larger limit never returns less.
//   - failure-latch: evidence of a failure, once seen, is never taken back.
//   - closed-outcome: every run ends in exactly one of [Complete], [Cutoff], [Failed].
//   - ledger-balance: bytes in = kept + cut + dropped, for each stage.
//   - stop-leaves-nothing: after a run no process, goroutine or descriptor of it is left.
//   - memory: the peak is at most a small multiple of the byte bound, for any input.
//   - stage-alone: a stage keeps its laws in any chain, and without one.
package pipeline
