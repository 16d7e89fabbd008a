package cli

// DidYouMean points to the name that was most likely meant; "" when none is
// near.
func DidYouMean(word string, names []string) string {
	if name := Nearest(word, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}

// Nearest returns the name that a mistyped word most likely stands for; "" when
// none is near: at most a third of the word may be wrong.
func Nearest(word string, names []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is how many letters have to be added, dropped, changed, or exchanged
// with their neighbour to make b of a.
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
