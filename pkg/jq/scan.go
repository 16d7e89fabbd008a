package jq

// The functions of this file move over JSON text that is known to be valid.

// skipSpace returns the index of the first byte at or after i that is not
// white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// stringEnd returns the index after the string that starts at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}

// literalEnd returns the index after the number or word that starts at i.
func literalEnd(b []byte, i int) int {
	for i < len(b) && !isDelimiter(b[i]) {
		i++
	}
	return i
}

// isDelimiter reports whether c ends a number or a word.
func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', ' ', '\t', '\n', '\r', '}', ']', '{', '[', '"':
		return true
	}
	return false
}

// containerEnd returns the index after the array or object that starts at i.
func containerEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}
