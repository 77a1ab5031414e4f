// Package e2e holds the acceptance tests: they build the tailrace binary, run it as its
// users do, and compare what comes out with the contract. testdata/cases has small
// backends and clients, one a file, each made after a real failure of a log reader, a
// process runner or a tool server.
package e2e
