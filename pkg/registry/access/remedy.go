package access

import "fmt"

// ProgramRemedy returns what a tool declares to start a program, the narrower declaration first.
func ProgramRemedy(program string) string {
	return fmt.Sprintf(`"confine": {"exec": [%q]}, or the capability Process for all programs`, program)
}

// NetworkRemedy is what a tool declares to talk to other hosts.
const NetworkRemedy = `the capability Network, or the port in "confine": {"connect": [...]}`

// FileRemedy returns what a tool declares to use a file that a capability opens.
func FileRemedy(capability string) string {
	return fmt.Sprintf(`the capability %s, or the path in "confine": {"read": [...]} or {"write": [...]}`, capability)
}
