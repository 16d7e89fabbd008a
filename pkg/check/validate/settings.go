package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/schemas"
)

const allowlist = "MCPBASH_TOOL_ALLOWLIST"

// settings checks the settings of the environment that name tools or modes (CLI-1058, CLI-1059).
func (c *check) settings() {
	c.allowed(c.p.Calls.Allowlist, "")
	for _, rule := range []*scriptenv.Rule{&c.p.Scripts.Tools, &c.p.Scripts.Providers} {
		if warning := rule.Warning(); warning != "" {
			c.at("env.mode", "", warning)
		}
	}
}

// allowed checks the entries of an allowlist. label is the file with the list, or "" for the environment.
func (c *check) allowed(list []string, label string) {
	where := finding.Finding{ID: "policy.unknown_tool", Path: label, Message: allowlist}
	c.known(where, "tool", list, c.namesOf(kinds.Tools), func(entry, tool string) bool {
		return entry == tool || entry == "*" || entry == "all" || strings.Contains(entry, "${")
	})
}

// namesOf returns the names of items.
func (c *check) namesOf(of ...*kinds.Kind) (names []string) {
	for _, kind := range of {
		for _, item := range c.offered.items[kind] {
			names = append(names, item.name)
		}
	}
	return names
}

// known reports each entry of a list that means none of the names of a kind of items. Each finding is a copy of where,
// whose message names the list.
func (c *check) known(where finding.Finding, kind string, list, names []string,
	means func(entry, name string) bool) {
	if len(names) == 0 || c.mayBeRegistered() {
		return
	}
	for _, entry := range list {
		if !slices.ContainsFunc(names, func(name string) bool { return means(entry, name) }) {
			c.at(where.ID, where.Path, fmt.Sprintf("%s has %q, which is not a %s%s", where.Message, entry, kind,
				cli.DidYouMean(entry, names)))
		}
	}
}

// types reports values that do not match the published schema, unless the registry reports them (CLI-1051).
func (c *check) types(doc json.RawMessage, label, name string) {
	for _, m := range rawjson.Members(doc) {
		if digits, isText := rawjson.Text(m.Value); isText && isSeconds(m.Name) && rawjson.PositiveInt(m.Value) > 0 {
			c.add(c.near(m.Value, finding.Finding{ID: "metadata.type", Path: label,
				Message: fmt.Sprintf("%q is the text %q, not a number", m.Name, digits),
				Fix:     fmt.Sprintf("write %q: %s", m.Name, digits)}))
		}
	}
	c.innerFields(doc, label, name)
	for _, fault := range schemas.Compile(name).Check(doc) {
		steps := strings.Split(fault.Path, "/")[1:]
		if len(steps) == 0 || slices.Contains(checkedElsewhere, steps[0]) {
			continue
		}
		f := c.near(rawjson.At(doc, fault.Path), finding.Finding{ID: "metadata.form", Path: label,
			Message: fault.String(), Fix: "correct the value as the message describes"})
		if !c.reportedAt(f) {
			c.add(f)
		}
	}
}

func isSeconds(field string) bool { return field == "timeoutSecs" || field == "maxTimeoutSecs" }

// checkedElsewhere are the fields whose form other checks report.
var checkedElsewhere = []string{
	"name", "id", "inputSchema", "arguments", "parameters", "outputSchema", "icons", "confine", "capabilities",
	"securityLevel", "version", "annotations", "uri", "uriTemplate",
}

// reportedAt reports whether the registry has a message about the place of a finding.
func (c *check) reportedAt(at finding.Finding) bool {
	for _, said := range c.offered.said {
		if slices.ContainsFunc(said, func(f finding.Finding) bool {
			return f.Path == at.Path && f.Line == at.Line && f.Column == at.Column
		}) {
			return true
		}
	}
	return false
}

// placeholders checks the placeholders in the texts of prompts (CLI-1060).
func (c *check) placeholders() {
	for _, o := range c.offered.items[kinds.Prompts] {
		if o.path == "" {
			continue
		}
		file := abs(c.p.Prompts, o.path)
		text, err := boundedfile.ReadHead(file, item.MaxMetadata)
		if err != nil || isLink(file) {
			continue // the registry reports it
		}
		for _, m := range prompt.FindMisplaced(string(text), rawjson.Get(o.json, "arguments")) {
			c.add(finding.Finding{ID: "prompt.placeholder", Path: c.label(file), Message: m.Fault, Line: m.Line})
		}
	}
}

// completionScripts checks the execute bits of the completion scripts next to prompts and resources (CLI-1061).
func (c *check) completionScripts(dir string) {
	filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		name := filepath.Base(file)
		isScript := strings.HasSuffix(name, ".completion.sh") || strings.HasSuffix(name, ".completion")
		if err != nil || !d.Type().IsRegular() || !isScript {
			return nil
		}
		stamp := folder.StampOfPath(file)
		if stamp.Mode&0o111 == 0 && c.once("completion "+file) {
			c.executableAs("completion.not_executable", file, c.label(file), stamp)
		}
		return nil
	})
}

// findRoots finds the roots of the project, and checks whether the server can use them (P-2101).
func (c *check) findRoots() {
	c.ownFields(abs(c.p.Root, roots.File), schemas.Roots)
	scope, err := roots.Fallback(c.p)
	if unusable, ok := errors.AsType[*roots.UnusableError](err); ok {
		f := finding.Finding{ID: "roots.unusable", Message: err.Error(), Fix: unusable.Remedy()}
		if unusable.Source == roots.File {
			f.Path, f.Message = roots.File, unusable.Reason()
		}
		c.add(f)
	}
	c.roots, c.noRoots = scope, err == nil && !scope.Given
}

// takesPath matches SDK functions that check a path of the client, outside comments.
var takesPath = lazyregexp.New(`(?m)^[^#\n]*\b(mcp_require_path\b|mcp_argv_(option|operand)\b[^#\n]* --path\b)`)

// pathsWithoutRoots warns about tools that take paths in a project without roots.
func (c *check) pathsWithoutRoots() {
	if !c.noRoots {
		return
	}
	first, more := "", 0
	for _, s := range c.scripts {
		switch {
		case !takesPath.Match(s.text):
		case first == "":
			first = s.label
		default:
			more++
		}
	}
	if first == "" {
		return
	}
	if more > 0 {
		first += fmt.Sprintf(" and %d more", more)
	}
	c.at("roots.none", roots.File, "missing, but tools take paths: "+first)
}
