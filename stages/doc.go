// Package stages has the stages of a bounded log pipeline, each usable alone and in any
// chain:
//
//   - [ByteCap] bounds the raw bytes of both streams and never splits a code point.
//   - [Capture] records both streams without copying them.
//   - [LineSplitter] makes lines of chunks, [LineWrapper] events of plain lines.
//   - [Decoder] makes events of lines that are one strict JSON object.
//   - [EventCounter] stops at a number of log events.
//   - [FailureDetector] looks for evidence that the backend failed.
//   - [Budget] fits a finished [Payload] into the size of a tool result.
//
// [Collect] puts them in a line and runs it. It is what the server and the command use.
//
// A stage is a plain struct whose zero value works with the defaults of the contract.
// Its Apply method is a [pipeline.Stage]; it serves one run and is used by one goroutine.
// After the run its Report accounts for every byte. The laws that stages keep are stated
// in package pipeline.
package stages
