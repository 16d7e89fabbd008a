package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Misplaced is a placeholder that is not replaced: it contains spaces, or no argument has its name (T-410).
type Misplaced struct {
	Line  int    // from 1
	Fault string // the cause, and a remedy if one is known
}

var placeholder = lazyregexp.New(`\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}`)

// FindMisplaced returns the placeholders in a template that are not replaced, each text once. The arguments are those
// that metadata declares, and given are the names of more arguments.
func FindMisplaced(template string, arguments json.RawMessage, given ...string) (list []Misplaced) {
	declared := declaredNames(arguments)
	seen := map[string]bool{}
	for _, at := range placeholder.FindAllStringSubmatchIndex(template, -1) {
		whole, name := template[at[0]:at[1]], template[at[2]:at[3]]
		fault := ""
		switch {
		case seen[whole]:
		case whole != "{{"+name+"}}":
			fault = fmt.Sprintf("%s is not replaced; write {{%s}}", whole, name)
		case !slices.Contains(declared, name) && !slices.Contains(given, name):
			fault = fmt.Sprintf("%s is not a declared argument%s", whole, cli.DidYouMean(name, declared))
		}
		seen[whole] = true
		if fault != "" {
			list = append(list, Misplaced{strings.Count(template[:at[0]], "\n") + 1, fault})
		}
	}
	return list
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
