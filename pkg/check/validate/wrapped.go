package validate

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/files/folder"
)

// recipes checks the recipes of the project, recipes/*.json (WRAP-9).
func (c *check) recipes() {
	if c.o.Recipe == nil {
		return
	}
	dir := abs(c.p.Root, "recipes")
	for _, e := range c.listing(dir) {
		if e.IsDir || !strings.HasSuffix(e.Name, ".json") {
			continue
		}
		file := abs(dir, e.Name)
		label := c.label(file)
		text, _, err := folder.ReadFile(file, maxScript)
		if err != nil {
			continue // it is too large, or was removed
		}
		faults := c.o.Recipe(e.Name, text)
		for _, f := range faults {
			f.ID, f.Path = "recipe.invalid", label
			c.add(f)
		}
		if len(faults) == 0 {
			c.good("recipe.valid", label, "valid")
		}
	}
}

// unconfirmed reports the arguments of a wrapped tool that nobody has confirmed (WRAP-27).
func (c *check) unconfirmed(dir string) {
	if !isFile(abs(dir, ".wrap.json")) {
		return
	}
	file := abs(dir, "tool.sh")
	text, _, err := folder.ReadFile(file, maxScript)
	if err != nil {
		return // the check of the script reports it
	}
	line := 0
	for content := range strings.Lines(string(text)) {
		line++
		code, what, marked := strings.Cut(content, " # unconfirmed: ")
		words := strings.Fields(code)
		if !marked || len(words) < 3 || !strings.HasPrefix(words[0], "mcp_argv_") {
			continue
		}
		c.add(finding.Finding{ID: "wrap.unconfirmed", Path: c.label(file), Line: line,
			Message: fmt.Sprintf("%s was guessed from the program's help: %s", strings.TrimPrefix(words[2], "."),
				strings.TrimSpace(what))})
	}
}
