package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
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

// imported checks the script of which the tool in a directory was made. It may lie outside of the project, so --fix
// does not change it (CLI-1066).
func (c *check) imported(dir string) {
	record, _, err := folder.ReadFile(abs(dir, ".wrap.json"), maxScript)
	if err != nil {
		return // the tool was not made of a script, or the record was removed
	}
	file := rawjson.TextOf(record, "script")
	if file == "" {
		return
	}
	if !filepath.IsAbs(file) {
		file = abs(c.p.Root, file)
	}
	label, tool := c.label(file), abs(dir, "tool.sh")
	text, stamp, err := folder.ReadFile(file, maxScript)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.at("script.gone", label, c.label(tool)+" starts it, and it does not exist")
		return
	case err != nil:
		c.at("script.unreadable", label, "cannot be read: "+fsys.Cause(err).Error())
		return
	case stamp.Mode&0o111 == 0 && runtime.GOOS != "windows":
		c.add(finding.Finding{ID: "script.not_executable", Path: label, Command: "chmod +x " + shell.Quote(file),
			Message: "not executable, so " + c.label(tool) + " cannot start it"})
	}
	interpreter := script.Interpreter(firstLine(text))
	c.interpreter(label, text, interpreter)
	if isBash(file, interpreter) || len(interpreter) > 0 && isPlainShell(interpreter[0]) {
		c.scripts = append(c.scripts, shellScript{file: file, label: label, text: text, as: importedScript, tool: tool})
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
