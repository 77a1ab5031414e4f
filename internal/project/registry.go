package project

// Registered says whether root is the root of a registered project.
func (c Context) Registered(root string) bool { panic("not yet") }

// Register adds a project to the registry.
func (c Context) Register(p Project) error { panic("not yet") }
