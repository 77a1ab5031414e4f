package project

// Register adds a project to the registry.
func (c Context) Register(p Project) error { panic("not yet") }
