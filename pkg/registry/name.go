package registry

import (
	"fmt"
	"strings"
	"unicode"

	"mcp-bash/pkg/mcp"
)

const maxName = 128 // bytes

// checkName says whether an item may be called so; if not, it says why and the
// item is left out.
func (s *subject) checkName(name string) bool {
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
	if s.reject != nil {
		s.reject("name: " + fault)
		return true // it goes on, to find all faults
	}
	s.say(mcp.Err, fmt.Sprintf("Skipping %s %s: its name %s", s.noun, s.shown, fault))
	return false
}

const maxPlainName = 64

// isPlainName reports whether clients take a tool name. The protocol allows
// dots; that some clients do not is for validate to say.
func isPlainName(name string) bool {
	for _, c := range []byte(name) {
		if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && len(name) <= maxPlainName
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
