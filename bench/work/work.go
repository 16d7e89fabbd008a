// Package work says what the servers serve, so that all serve the same: a few
// tools that are Bash scripts, and any number of tools that are only listed.
package work

import "fmt"

// Scripts are the tools that run DIR/NAME/tool.sh.
var Scripts = []string{"empty", "greet", "text-1", "text-9"}

// Names returns the names of all tools: the scripts, if they are wanted, and
// then as many others as needed to make it n tools.
func Names(scripts bool, n int) []string {
	names := make([]string, 0, n)
	if scripts {
		names = append(names, Scripts...)
	}
	for len(names) < n {
		names = append(names, fmt.Sprintf("tool-%05d", len(names)))
	}
	return names
}

// Description is what a tool is said to do.
func Description(name string) string {
	return "The tool " + name + " does something useful with its arguments"
}

// Schema is the input schema of every tool. Properties are in the order in
// which an encoder that sorts them puts them, so that all lists are alike.
const Schema = `{"type":"object","properties":{` +
	`"count":{"type":"integer","description":"How many times to do it","minimum":0,"maximum":10},` +
	`"name":{"type":"string","description":"Whom to greet, or where to look"},` +
	`"verbose":{"type":"boolean","default":false}},"required":["name"]}`
