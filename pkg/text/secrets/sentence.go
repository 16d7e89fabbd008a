package secrets

import "strings"

// A log message of the server is a sentence with names and paths in it, such as "Tool 'token': why" or
// "tools/auth/tool.meta.json:3:1: why". They are published, and the text after them is the reason of the message.

// nouns are the words that the server puts before a name in quotes.
var nouns = []string{"tool", "prompt", "resource", "template", "completion", "provider", "skill"}

// fileNouns are the words that the server puts before the path of a file of the operator.
var fileNouns = []string{"file", "certificate", "key", "clients"}

// isPublished reports whether a sentence of the server has a published name here. That is one of the project, or the
// end of the path of a file or of the address of a server. A colon or a quote follows the name.
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
		before, ok := cutSuffixFold(text, word+" ")
		if ok && (before == "" || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\n")) {
			return true
		}
	}
	return false
}

func cutSuffixFold(text, suffix string) (before string, ok bool) {
	at := len(text) - len(suffix)
	if at < 0 || !strings.EqualFold(text[at:], suffix) {
		return text, false
	}
	return text[:at], true
}

// folders are the folders of a project that messages name.
var folders = []string{
	"tools", "prompts", "resources", "completions", "providers", "server.d", "skills", "ui", "config", ".registry",
}

// isFile reports whether a word is the path of a file, and rest is a place in the file or a reason. A path in a folder
// of the project, or with an extension, is a file. Any other path could be a key, such as /prod/db/password. So at
// least two words must follow it, as in an error of the system.
func isFile(path, rest string) bool {
	if !strings.HasPrefix(rest, ": ") && (len(rest) < 2 || rest[1] < '0' || rest[1] > '9') {
		return false
	}
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 {
		return false
	}
	first, _, _ := strings.Cut(path, "/")
	for _, folder := range folders {
		if first == folder {
			return true
		}
	}
	name := path[slash+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && dot < len(name)-1 && !isSecretName(name[dot+1:]) {
		return true
	}
	return (first == "" || first == "~" || first == "." || first == "..") && isReason(path, rest)
}

// isReason reports whether the rest of a line after a path and a colon is a sentence, such as "mode 0644, others can
// read it". It has several words in lower case. Between them are only abbreviations, short numbers and paths. A word in
// which letters, digits and cases are mixed could be a secret.
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
