package jqtext

// IdentifierEnd returns the length of the identifier with which s begins, or 0.
func IdentifierEnd[S string | []byte](s S) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return i
		}
	}
	return len(s)
}

// IsIdentifier reports whether a name can follow a dot without quotes.
func IsIdentifier[S string | []byte](name S) bool {
	return len(name) > 0 && IdentifierEnd(name) == len(name)
}
