//go:build unix && !linux

package source

// bytesReady is FIONREAD, the request that asks a pipe how many bytes lie in it. The unix
// package does not have it for these systems.
const bytesReady = 0x4004667f
