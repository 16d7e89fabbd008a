package item

import (
	"fmt"
	"strings"
	"unicode"

	"mcp-bash/pkg/wire/mcp"
)

const maxName = 128 // bytes

// CheckName reports whether an item may have a name. If not, CheckName logs the reason, and
// the caller leaves the item out.
func (s *Input) CheckName(name string) bool {
	fault := ""
	switch {
	case strings.TrimSpace(name) == "":
		fault = "is empty"
	case len(name) > maxName:
		fault = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		fault = "contains control characters"
	default:
		return true
	}
	if s.Reject != nil {
		s.Reject("name", "name: "+fault)
		return true // continue, to find all faults
	}
	s.Log(Message{Level: mcp.Err, Topic: UnusableName, At: s.Label, Text: "its name " + fault,
		Logged: fmt.Sprintf("Skipping %s %s: its name %s", s.Noun, s.Label, fault)})
	return false
}

// MaxPlainName is the maximum length of a name that all clients accept.
const MaxPlainName = 64

// IsPlainName reports whether clients accept the name of a tool. The protocol allows dots.
// Some clients do not, which "validate" reports.
func IsPlainName(name string) bool {
	for _, c := range []byte(name) {
		if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && len(name) <= MaxPlainName
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
