package project

// A Selector says which project a call means; nil members are not given. The zero value
// means the project of the working directory.
type Selector struct {
	ProjectName, RepoRoot, Path *string
}

// Select returns the arguments that tell the backend command which project is meant.
func (c Context) Select(s Selector) (args []string, err error) { panic("not yet") }
