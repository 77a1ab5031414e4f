package install

import "path/filepath"

// Surroundings is what the place of a configuration depends on.
type Surroundings struct {
	// OS is the system as runtime.GOOS names it.
	OS string
	// Home is the home folder of the user, "" where it is not known.
	Home string
	// Cwd is the working directory, Root the folder of the project that it lies in.
	// Both are absolute.
	Cwd, Root string
	// Getenv returns a variable of the environment.
	Getenv func(string) string
}

// appData returns the folder of the applications' configurations.
func (s Surroundings) appData() string {
	switch s.OS {
	case "windows":
		return s.dir("APPDATA", "AppData", "Roaming")
	case "darwin":
		return filepath.Join(s.Home, "Library", "Application Support")
	}
	return s.dir("XDG_CONFIG_HOME", ".config")
}

// dir returns the folder that a variable names, or the one below Home. The standard of
// these variables has relative values ignored.
func (s Surroundings) dir(variable string, below ...string) string {
	if dir := s.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(append([]string{s.Home}, below...)...)
}

// ownDir returns the folder that a variable of the client itself names, which may be
// relative, or the one below Home.
func (s Surroundings) ownDir(variable string, below ...string) string {
	dir := s.Getenv(variable)
	switch {
	case dir == "":
		return filepath.Join(append([]string{s.Home}, below...)...)
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	}
	return filepath.Join(s.Cwd, dir)
}
