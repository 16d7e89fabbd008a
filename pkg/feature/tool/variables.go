package tool

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/lazyregexp"
)

var (
	// unsetVariable matches the messages of shells about a variable that is not set.
	unsetVariable = lazyregexp.New(`(?m): ([A-Z][A-Z0-9_]*): (?:unbound variable|parameter (?:null or )?not set)\r?$`)
	// aboutVariable matches a line about a variable, of a shell or another program.
	aboutVariable = lazyregexp.New(`(?mi)^.*(?:\bline \d+: \w+: |\b(?:un)?set\b|environment|variable|missing|` +
		`requires?\b|required|\bneeds?\b|\bdefined?\b|undefined|\bexport\b|\bempty\b|keyerror).*$`)
	variableName = lazyregexp.New(`\b[A-Z][A-Z0-9_]{2,}\b`)
	// variableRead matches the expansion of a variable. The second group is set if the expansion has a default.
	variableRead = lazyregexp.New(`\$(?:\{([A-Z][A-Z0-9_]{2,})(?:\}|:?\?|(:?[-=+]))|([A-Z][A-Z0-9_]{2,})\b)`)
	// setsNames matches commands that set the variables whose names follow.
	setsNames = lazyregexp.New(`\b(?:read|mapfile|readarray|getopts|printf -v)\b`)
	// loadsFile matches a line that loads another file.
	loadsFile = lazyregexp.New(`(?m)^[ \t]*(?:source|\.)[ \t].*$`)
)

// variableHint returns the hint for a script whose message names a variable that it did not get, or "" (T-414).
func (c *call) variableHint(message []byte) string {
	for _, line := range aboutVariable.FindAllStringSubmatch(string(message), -1) {
		for _, m := range variableName.FindAllStringSubmatch(line[0], -1) {
			if c.drops(m[0]) {
				return c.dropped(c.script, "needs", m[0])
			}
		}
	}
	m := unsetVariable.FindSubmatch(message)
	if m == nil {
		return ""
	}
	name := string(m[1])
	if sets(c.head(c.script, maxHead), name) {
		return ""
	}
	if _, given := c.tools.project.Env[name]; given || scriptenv.IsWithheld(name) {
		return ""
	}
	text := fmt.Sprintf("%s needs %s, which the environment of the server does not have; ", c.shown(c.script), name) +
		`set it there, such as in "env" of the server's entry in the client`
	if c.inherits.Drops(name) {
		text += ", and " + c.inherits.Remedy(name)
	}
	return text
}

// variableLine returns the hint for the first variable that a script reads although it does not get it, or "" (T-414).
// A variable with a default counts only if the call failed.
func (c *call) variableLine(file string, head []byte, failed bool) string {
	if !isShell(file, head) {
		return ""
	}
	for _, m := range variableRead.FindAllStringSubmatch(string(head), -1) {
		name, reads := m[1]+m[3], c.drops(m[1]+m[3])
		if m[2] != "" {
			reads = failed && c.inherits.DropsValue(name, c.tools.project.Env)
		}
		if reads && !sets(head, name) {
			return c.dropped(file, "reads", name)
		}
	}
	return ""
}

// failedLine is [call.variableLine] for a call that failed. For a tool that was made of a script it is about that
// script, if the call may read it.
func (c *call) failedLine(head []byte) string {
	file := c.script
	record, err := boundedfile.ReadHead(filepath.Join(filepath.Dir(file), ".wrap.json"), maxRecord)
	if script := rawjson.TextOf(record, "script"); err == nil && script != "" {
		if file = script; !filepath.IsAbs(file) {
			file = filepath.Join(c.tools.project.Root, filepath.FromSlash(file))
		}
		if c.hold.Refuses(file) != sandbox.NotRefused {
			return ""
		}
		head, _ = boundedfile.ReadHead(file, maxHead)
	}
	return c.variableLine(file, head, true)
}

// maxRecord limits the record of how a tool was made, in bytes.
const maxRecord = 1 << 20

// drops reports whether the server has a variable that the script does not get.
func (c *call) drops(name string) bool {
	return c.tools.project.Env[name] != "" && c.inherits.Drops(name)
}

// sets reports whether a script may set a variable itself, or load a file that does.
func sets(head []byte, name string) bool {
	if bytes.Contains(head, []byte(name+"=")) || setsNames.Match(head) {
		return true
	}
	return slices.ContainsFunc(loadsFile.FindAllStringSubmatch(string(head), -1), func(line []string) bool {
		return !strings.Contains(line[0], "-sdk.sh")
	})
}

func (c *call) dropped(file, verb, name string) string {
	return fmt.Sprintf("%s %s %s, which the server has but does not pass on to tools; %s", c.shown(file), verb, name,
		c.inherits.Remedy(name))
}
