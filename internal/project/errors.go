package project

// The codes of a [SelectError], as results write them.
const (
	CodeUsage      = "E_USAGE"
	CodeNotFound   = "E_PROJECT_NOT_FOUND"
	CodePermission = "E_PERMISSION"
)

// The reasons of a [SelectError], as results write them.
const (
	ReasonConflict     = "conflicting_selectors"
	ReasonInvalidName  = "invalid_project_name"
	ReasonUnknown      = "unknown_project"
	ReasonAmbiguous    = "ambiguous_project"
	ReasonInvalidPath  = "invalid_path"
	ReasonPathNotFound = "path_not_found"
	ReasonUnreadable   = "path_not_readable"
	ReasonOutside      = "path_outside_projects"
	ReasonNoProject    = "no_project"
	ReasonNotFolder    = "path_not_folder"
	ReasonNotRepo      = "path_not_repository"
)

// A SelectError says why no project could be selected. Its text is fixed: it names the
// argument and the next action, and repeats neither a value nor a path.
type SelectError struct {
	// Code is the class of the error, one of the Code constants.
	Code string
	// Reason tells the errors of one class apart, one of the Reason constants.
	Reason string
	// Argument names the selector: projectName, repoRoot or path; "" where none was given.
	Argument string
}

// Error returns the fixed text.
func (e *SelectError) Error() string {
	switch e.Reason {
	case ReasonConflict:
		return "only one of projectName, repoRoot and path can be given: leave out the others"
	case ReasonInvalidName:
		return "projectName is not a project name: it needs at least one letter or digit and at most 253 characters"
	case ReasonUnknown:
		return "projectName names no registered project: run `hack projects` for the list, or `hack init` or `tailrace init` in the project"
	case ReasonAmbiguous:
		return "projectName means more than one registered project: select the project by path"
	case ReasonInvalidPath:
		return e.Argument + " is not a path: give an absolute path, or one relative to the working directory"
	case ReasonPathNotFound:
		return e.Argument + " was not found: give the path of a folder or file that exists"
	case ReasonUnreadable:
		return e.Argument + " cannot be read: give a path that this user may read"
	case ReasonOutside:
		return e.Argument + " is outside of all registered projects: run `hack init` or `tailrace init` in the project first"
	case ReasonNotFolder:
		return e.Argument + " is no folder: give the root folder of the repository"
	case ReasonNotRepo:
		return e.Argument + " may not be read: give a repository (a folder that holds .git), or a folder of a registered project or of the server's working directory"
	case ReasonNoProject:
		return "there is no project here: give projectName or path, or run `tailrace init` in the project"
	}
	return "the project could not be selected"
}
