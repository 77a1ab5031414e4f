package mcp

import "os"

// openAudit opens the audit log for appending. Rights are those that the folder gives.
func openAudit(path string) (auditFile, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errAuditForm
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

// rotate leaves the file as it is: it cannot be renamed while another process has it open.
func (a *auditLog) rotate(string, auditFile) bool { return false }
