// Package mcp is the Model Context Protocol front end: a server on two byte streams whose
// tools run the backend command once per call, and give back what it wrote within bounds.
//
// # The way of a call
//
// A line of the client is checked before anything parses it recursively (see conn). The
// SDK dispatches it to a tool. The tool validates its arguments by the one table of
// tools, selects the project, starts the command and collects its output; whatever
// happens, it ends as one [stages.Payload]. Every result of a tools/call then leaves
// through one exit, which fits it into the size budget and builds the frame, once and in
// one buffer. The frame is written in one Write.
//
// # What is never there
//
// The server keeps no log state between calls. Its messages and its log hold no backend
// output, no caller input and no paths. Requests that were cancelled, and those of a
// session that is over, get no reply.
package mcp
