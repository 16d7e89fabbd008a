//go:build unix && !linux

package trust

// hasACL always returns false: on other systems, the mode does not include access control lists.
func hasACL(string) bool { return false }
