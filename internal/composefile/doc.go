// Package composefile reads what a project's compose files say: which files they are, the
// name of the compose project, its services, and where the variables of their environment
// come from.
//
// The files are read with the loader of Docker Compose itself. What is interpolated is
// looked up in an environment that the caller captured, with the .env file of the project
// below it, as Compose has it. No value of a variable leaves the package, and no error
// holds a path, a name or any text of a file.
package composefile
