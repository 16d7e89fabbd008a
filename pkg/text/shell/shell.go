// Package shell writes words so that a shell reads them unchanged.
package shell

import "strings"

// Quote quotes a word for a shell.
func Quote(word string) string {
	if word != "" && strings.Trim(word,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
