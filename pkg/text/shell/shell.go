// Package shell writes words so that a shell reads them unchanged.
package shell

import "strings"

// Quote returns a word as a shell reads it.
func Quote(word string) string {
	if word != "" && strings.Trim(word,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
