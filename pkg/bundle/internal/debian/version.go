package debian

import (
	"cmp"
	"strings"
)

// compareVersions compares two versions as dpkg does: [epoch:]upstream[-revision].
func compareVersions(a, b string) int {
	epochA, a := splitEpoch(a)
	epochB, b := splitEpoch(b)
	upstreamA, revisionA := splitRevision(a)
	upstreamB, revisionB := splitRevision(b)
	return cmp.Or(compareDigits(epochA, epochB), compareParts(upstreamA, upstreamB), compareParts(revisionA, revisionB))
}

func splitEpoch(v string) (epoch, rest string) {
	if epoch, rest, found := strings.Cut(v, ":"); found {
		return epoch, rest
	}
	return "0", v
}

func splitRevision(v string) (upstream, revision string) {
	if i := strings.LastIndexByte(v, '-'); i >= 0 {
		return v[:i], v[i+1:]
	}
	return v, "0"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// compareParts compares texts and numbers by turns. A tilde sorts before the end.
func compareParts(a, b string) int {
	for a != "" || b != "" {
		for a != "" && !isDigit(a[0]) || b != "" && !isDigit(b[0]) {
			if c := cmp.Compare(weight(a), weight(b)); c != 0 {
				return c
			}
			a, b = a[1:], b[1:] // equal weights: both have a character
		}
		numberA, numberB := digits(a), digits(b)
		if c := compareDigits(numberA, numberB); c != 0 {
			return c
		}
		a, b = a[len(numberA):], b[len(numberB):]
	}
	return 0
}

// weight returns the rank of the first character: tilde, end or digit, letter, other.
func weight(text string) int {
	switch {
	case text == "" || isDigit(text[0]):
		return 0
	case text[0] == '~':
		return -1
	case 'A' <= text[0] && text[0] <= 'Z' || 'a' <= text[0] && text[0] <= 'z':
		return int(text[0])
	}
	return int(text[0]) + 256
}

func digits(text string) string {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return text[:n]
}

func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
