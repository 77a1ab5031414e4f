package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// projectID tells the project of a call from others, however it was selected, without its
// path or its name. It is "" where the call had none.
func (s *server) projectID(sel selected) string {
	if !sel.project {
		return ""
	}
	root := s.project.Cwd
	if len(sel.argv) > 0 {
		if name, ok := strings.CutPrefix(strings.Join(sel.argv, "="), "--project="); ok {
			p, err := s.project.Lookup(name)
			if err != nil {
				return "" // It was unregistered in the meantime.
			}
			root = p.Root
		} else {
			root = sel.argv[len(sel.argv)-1]
		}
	}
	if p, ok := s.project.Find(root); ok {
		root = p.Root
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}
