// Package engine starts a Docker engine of a test's own, with the compose plugin and one
// image that holds a test program. It needs root, and Debian's docker.io:
//
//	apt-get install -y --no-install-recommends docker.io
//
// The engine listens on a socket in a temporary folder, where its data lies too; it has no
// network, changes no firewall, and is ended by its process id. Nothing can be pulled, so
// the image is built from scratch out of the program in folder logger.
//
// Tests that need it have the build tag engine, and `make engine` runs them. A package of
// such tests starts one engine for all of them:
//
//	var docker *engine.Engine
//
//	func TestMain(m *testing.M) { os.Exit(engine.Main(m, &docker)) }
package engine

// Image is the name of the image with the test program, which lies at /logger in it.
const Image = "tailrace-logger:test"
