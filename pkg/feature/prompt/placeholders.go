package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// A Misplaced is a placeholder that is not replaced: it contains spaces, or no argument has its name (T-410).
type Misplaced struct {
	Line  int    // from 1
	Fault string // the cause, and a remedy if one is known
}

// FindMisplaced returns the placeholders in a template that are not replaced, each text once. The arguments are those
// that metadata declares.
func FindMisplaced(template string, arguments json.RawMessage) []Misplaced {
	return findMisplaced(template, declaredNames(arguments), nil)
}

// findMisplaced is [FindMisplaced] with the names of declared arguments, and with more arguments.
func findMisplaced(template string, declared []string, given map[string]string) (list []Misplaced) {
	seen := map[string]bool{}
	for at := 0; ; {
		next := strings.Index(template[at:], "{{")
		if next < 0 {
			return list
		}
		at += next
		whole, name := placeholderAt(template[at:])
		fault := ""
		switch _, known := given[name]; {
		case whole == "":
			at++ // a placeholder may begin at the second brace
			continue
		case len(whole) != len("{{}}")+len(name):
			fault = fmt.Sprintf("%s is not replaced; write {{%s}}", whole, name)
		case !known && !slices.Contains(declared, name):
			fault = fmt.Sprintf("%s is not a declared argument%s", whole, cli.DidYouMean(name, declared))
		}
		if fault != "" && !seen[whole] {
			seen[whole] = true
			list = append(list, Misplaced{strings.Count(template[:at], "\n") + 1, fault})
		}
		at += len(whole)
	}
}

// placeholderAt returns the placeholder that a text with two opening braces begins with, and its name. Spaces and tabs
// may surround the name. Both are "" if there is no placeholder.
func placeholderAt(s string) (whole, name string) {
	rest := strings.TrimLeft(s[len("{{"):], " \t")
	name = nameAt(rest)
	rest, closed := strings.CutPrefix(strings.TrimLeft(rest[len(name):], " \t"), "}}")
	if name == "" || !closed {
		return "", ""
	}
	return s[:len(s)-len(rest)], name
}

func declaredNames(arguments json.RawMessage) (names []string) {
	for e := range rawjson.Elements(arguments) {
		names = append(names, rawjson.TextOf(e, "name"))
	}
	for name := range rawjson.All(rawjson.Get(arguments, "properties")) {
		names = append(names, name)
	}
	return names
}
