// Package project answers which project a call means, and which command serves it.
//
// A project is a folder that holds .hack/docker-compose.yml, .dev/docker-compose.yml or
// tailrace.yaml. The registry, projects.json, lists the projects that a user has set up;
// the hack command line reads and writes the same file. Registration is what gives a
// project its rights: only paths inside registered projects can be selected by a path,
// and only a registered project's tailrace.yaml may have commands run.
//
// A [Context] is captured once, when a session starts, and never changes. It is a plain
// value and safe for concurrent use. The registry and the disk are read anew by each
// call, so that a project that was registered meanwhile is found.
//
// Errors never hold a path, a name or any other value: the text names the argument and
// the next action.
package project
