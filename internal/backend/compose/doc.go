// Package compose reads the logs of the containers of a compose project from the Docker
// engine.
//
// Containers are found by the labels that Compose gives them. A snapshot reads the log of
// each of them to its end and puts the lines in the order of the engine's timestamps; the
// lines of one container keep their order. A follow begins with such a snapshot and goes on
// with the streams of the containers. The engine's events tell it of containers that start,
// are started again, and are removed; it ends with its context only.
//
// Nothing is lost or repeated where a stream ends and a later one goes on: a [position] says
// how far each stream of a container was read.
package compose
