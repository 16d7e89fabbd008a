// Package work defines the work that all servers serve: a few tools that are Bash scripts, and any number of tools
// that are only listed. Optional are resources, a prompt, and completions of its argument.
package work

import (
	"fmt"
	"path/filepath"
)

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

// Description returns the description of a tool.
func Description(name string) string {
	return "The tool " + name + " does something useful with its arguments"
}

// Schema is the input schema of every tool. Properties are in the order in
// which an encoder that sorts them puts them, so that all lists are alike.
const Schema = `{"type":"object","properties":{` +
	`"count":{"type":"integer","description":"How many times to do it","minimum":0,"maximum":10},` +
	`"name":{"type":"string","description":"Whom to greet, or where to look"},` +
	`"verbose":{"type":"boolean","default":false}},"required":["name"]}`

// Resources are the files below DIR/resources that are read, as plain text.
var Resources = []string{"note.txt", "book.txt", "code.txt"}

// Resource is the file of a resource; its URI is file:// and this.
func Resource(dir, name string) string { return filepath.Join(dir, "resources", name) }

// Prompt is the name of the prompt, whose text is in PromptFile. In the text
// {{topic}} stands for its argument.
const (
	Prompt            = "review"
	PromptDescription = "Asks for a review"
	Argument          = "topic"
	ArgumentUse       = "What to review"
)

// PromptFile is where the text of the prompt is.
func PromptFile(dir string) string { return filepath.Join(dir, "prompts", Prompt+".txt") }

// Suggestions are the values of an argument that the other servers suggest. Ours has no script for it
// and suggests nothing.
func Suggestions(value string) []string {
	return []string{value, value + " snippet", value + " example"}
}
