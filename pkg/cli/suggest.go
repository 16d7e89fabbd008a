package cli

import (
	"strings"
	"unicode"
)

// DidYouMean returns a suggestion for a mistyped word, or "".
func DidYouMean(word string, names []string) string { return Meant(Nearest(word, names)) }

// Meant returns the suggestion of a name, or "" for an empty name.
func Meant(name string) string {
	if name == "" {
		return ""
	}
	return " (did you mean " + name + "?)"
}

// maxMistyped limits mistyped words, in bytes. Words may come from untrusted texts.
const maxMistyped = 128

// Nearest returns the name that is most similar to a mistyped word, or "". At most a third of the word may be wrong,
// and never all of it.
func Nearest(word string, names []string) string {
	best, least := "", min(max(1, len(word)/3)+1, len(word))
	if word == "" || len(word) > maxMistyped {
		return ""
	}
	for _, name := range names {
		if len(name)-len(word) >= least || len(word)-len(name) >= least {
			continue // the difference in length alone is too large
		}
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns the number of edits from a to b. An edit adds, removes or changes a letter, or exchanges
// neighbours.
func distance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// Resembles reports whether a name is probably a mistyped form of another one. At most one letter differs. Case and
// other characters do not count.
func Resembles(name, meant string) bool {
	const longest = 64 // bytes; names may come from untrusted texts
	if len(name) > longest {
		return false
	}
	letters := func(text string) []rune {
		return []rune(strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, text))
	}
	a, b := letters(name), letters(meant)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1
}
