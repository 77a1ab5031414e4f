// Package lifecycle does what the commands beside the log commands do: it starts, stops,
// lists and explains the projects of a user, on Docker Compose.
//
// Docker Compose is run as a child, without a shell, in the process group of this program,
// so that what stops this program stops it, too. Which files it reads and the name of the
// project are always told it, and no value of a caller can become a flag of it.
//
// What starts, stops or enters containers is for registered projects only: a compose file
// can mount any folder and can name any project, so one that came with a repository gets
// its rights from the user. Reading is for all.
//
// The package knows no terminal. Its errors are of type [*Error] or of package project,
// and hold no path, no value and nothing of what Docker wrote.
package lifecycle
