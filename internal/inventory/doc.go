// Package inventory lists what a repository says of itself: package managers, compose
// files with their services and ports, Dockerfiles, and the names of environment
// variables.
//
// A repository that was cloned a minute ago is hostile until shown otherwise, so:
//
//   - It is read within bounds of depth, entries, files, bytes and time ([Limits]). An
//     inventory that met one of them says which.
//   - No link is followed, and nothing outside of the folder can be opened. Only regular
//     files are read, and none is waited for.
//   - Each text in an [Inventory] has the form of what it is: a path, a name, an image, a
//     port. No such form holds a line end, a quote, a backtick or a control character, and
//     each is short. What has another form is left out and counted.
//   - The value of a variable is never kept. A file of variables is read up to the first
//     line that is no assignment, since what follows could be the rest of a value.
//
// It is no resolver: includes, extends and other files that a compose file names are not
// followed, and variables are not expanded.
package inventory
