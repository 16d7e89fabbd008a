package script

import "strings"

// Quote returns a word as a shell reads it.
func Quote(word string) string {
	if word != "" && strings.Trim(word,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
