// Package measure times ways to do the same work side by side, keeps every single time,
// and compares two such reports with confidence.
//
// The ways of one comparison run in turn, round by round, so that a machine that is busy
// for a while is busy for all of them. What is quoted is the minimum: noise only ever adds
// time, so the least of many rounds is the nearest to what the work costs. Whether two
// reports differ is not read from minima but tested on all times (see [Compare]).
//
// The package knows nothing of pipelines: it is given functions.
package measure
