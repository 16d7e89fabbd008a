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

// isCount reports whether a name with a number as its value can be a count instead of a secret: maxTokens, tokens_used.
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

// Log messages of the server contain names and paths, such as "Tool 'token': why" or "tools/auth/tool.meta.json:3:1:
// why". These names are public, and the reason follows them, not a secret.

// nouns are the words that the server puts before a name in quotes.
var nouns = []string{"tool", "prompt", "resource", "template", "completion", "provider", "skill"}

// fileNouns are the words that the server puts before the path of an operator's file.
var fileNouns = []string{"file", "certificate", "key", "clients"}

// isPublished reports whether a part of a text is a public name in a message of the server. This is a name of the
// project, or the end of a path or of a server's address. A colon or a quote follows the name.
func isPublished(text string, start, end int) bool {
	begin := start
	for begin > 0 && (isNameByte(text[begin-1]) || strings.IndexByte("/~+@,", text[begin-1]) >= 0) {
		begin--
	}
	switch path := text[begin:end]; {
	case strings.HasPrefix(path, "//") && strings.HasSuffix(text[:begin], ":"):
		return true
	case text[end] == '\'':
		return start > 0 && text[start-1] == '\'' && follows(text[:start-1], nouns...)
	case text[end] != ':':
		return false
	default:
		return follows(text[:begin], "icon") || follows(text[:begin], fileNouns...) && isReason(path, text[end:]) ||
			isFile(path, text[end:])
	}
}

// follows reports whether a text ends in one of these words and a space.
func follows(text string, words ...string) bool {
	for _, word := range words {
		at := len(text) - len(word) - 1
		if hasSuffixFold(text, word+" ") && (at == 0 || text[at-1] == ' ' || text[at-1] == '\n') {
			return true
		}
	}
	return false
}

// folders are the folders of a project that messages name.
var folders = []string{
	"tools", "prompts", "resources", "completions", "providers", "server.d", "skills", "ui", "config", ".registry",
}

// isFile reports whether a word is the path of a file. rest, the text after it, is a position or a reason. A path in a
// folder of the project, or with an extension, is a file. Any other path could be a key, such as /prod/db/password. So
// at least two words must follow it, as in an error of the system.
func isFile(path, rest string) bool {
	if !strings.HasPrefix(rest, ": ") && (len(rest) < 2 || rest[1] < '0' || rest[1] > '9') {
		return false
	}
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 {
		return false
	}
	first, _, _ := strings.Cut(path, "/")
	if slices.Contains(folders, first) {
		return true
	}
	name := path[slash+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && dot < len(name)-1 && !isSecretName(name[dot+1:]) {
		return true
	}
	return (first == "" || first == "~" || first == "." || first == "..") && isReason(path, rest)
}

// isReason reports whether the text after a path and a colon is a sentence, such as "mode 0644, others can read it". It
// must have several words in lower case. Otherwise it may contain only abbreviations, short numbers and paths, because
// a word of mixed letters, digits and cases could be a secret.
func isReason(path, rest string) bool {
	const (
		longest = 200 // bytes of the text that are read
		short   = 5   // letters of an abbreviation, or digits
		lower   = "abcdefghijklmnopqrstuvwxyz"
		upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	)
	rest, _, _ = strings.Cut(rest[:min(len(rest), longest)], "\n")
	rest, ok := strings.CutPrefix(rest, ": ")
	count := 0
	for word := range strings.FieldsSeq(rest) {
		word = strings.Trim(word, "'(),;:")
		switch {
		case word == "":
		case strings.Trim(word, lower) == "":
			count++
		case strings.Trim(word, lower+"/-'") == "": // input/output
		case len(word) <= short && (strings.Trim(word, "0123456789") == "" || strings.Trim(word, upper) == ""):
		case strings.HasPrefix(word, "/"), strings.Contains(path, word):
		default:
			return false
		}
	}
	return ok && count >= 2
}
