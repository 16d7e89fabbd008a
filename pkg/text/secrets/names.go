package secrets

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/ascii"
)

// secretWords are words in the names of secrets: api_key, accessToken, X-Amz-Signature.
var secretWords = []string{
	"auth", "authorization", "bearer", "cookie", "cookies", "creds", "jwt", "key", "otp", "pass", "pat", "pwd", "sig",
	"signature",
}

// secretStems are parts of words in the names of secrets, for names without separators:
// DBPASSWORD, clientsecret.
var secretStems = []string{
	"accesskey", "apikey", "authkey", "credential", "passcode", "passphrase", "passwd", "password", "privatekey", "secret",
	"sessionid", "signingkey",
}

// isSecretName reports whether a member, header, variable or option with this name is a
// secret.
func isSecretName(name string) bool {
	if name == "PWD" || name == "OLDPWD" {
		return false // the working directory
	}
	before, count := "", 0
	for word := range words(name) {
		is := func(other string) bool { return ascii.EqualFold(word, other) }
		isToken := hasSuffixFold(word, "token") || hasSuffixFold(word, "tokens")
		// MCP's progress token is a number for a request.
		isProgress := is("progresstoken") || ascii.EqualFold(before, "progress")
		if slices.ContainsFunc(secretWords, is) || isToken && !isProgress ||
			is("id") && ascii.EqualFold(before, "session") ||
			slices.ContainsFunc(secretStems, func(stem string) bool { return containsFold(word, stem) }) {
			return true
		}
		before = word
		count++
	}
	return count == 1 && ascii.EqualFold(before, "session")
}

func hasSuffixFold(text, suffix string) bool {
	return len(text) >= len(suffix) && ascii.EqualFold(text[len(text)-len(suffix):], suffix)
}

func containsFold(text, part string) bool {
	for end := len(part); end <= len(text); end++ {
		if hasSuffixFold(text[:end], part) {
			return true
		}
	}
	return false
}

// isCount reports whether a name can also be that of a count, if the value is a number:
// maxTokens, tokens_used.
func isCount(name string) bool {
	for word := range words(name) {
		if hasSuffixFold(word, "tokens") || ascii.EqualFold(word, "pass") {
			return true
		}
	}
	return false
}

// isEnvironment reports whether a member with this name contains environment variables.
// Their values are redacted regardless of their names.
func isEnvironment(name string) bool {
	return slices.ContainsFunc(environments, func(e string) bool { return strings.EqualFold(e, name) })
}

var environments = []string{"env", "environ", "environment", "envvars", "env_vars"}

// words yields the words of a name. Digits, other characters and changes of
// case separate words.
func words(name string) func(yield func(string) bool) {
	isUpper := func(i int) bool { return i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	isLower := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	return func(yield func(string) bool) {
		for i := 0; i < len(name); {
			if !isUpper(i) && !isLower(i) {
				i++
				continue
			}
			start := i
			for isUpper(i) {
				i++
			}
			if n := i - start; n > 1 && isLower(i) {
				i-- // the last capital begins the next word: APIKey
			}
			if i == start+1 || i == start {
				for isLower(i) || i == start {
					i++
				}
			}
			if !yield(name[start:i]) {
				return
			}
		}
	}
}
