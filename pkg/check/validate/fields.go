package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/schemas"
)

// hasNoEffect reports whether only the Bash edition knows a variable.
func hasNoEffect(name string) bool {
	unused, state := settings.Ignored()
	return scriptenv.Matches(unused, name) || scriptenv.Matches(state, name)
}

// ignored reports settings and files that only the Bash edition knows.
func (c *check) ignored() {
	conf := abs(c.p.Root, "mcpb.conf")
	files := []string{conf, abs(c.p.Server, "env.sh")}
	launchers, _ := filepath.Glob(filepath.Join(globEscape(c.p.Root), "*.sh"))
	for _, file := range append(files, launchers...) {
		s := readBash(file)
		if s == nil {
			continue
		}
		for _, set := range s.Settings {
			name := set.Name.Name
			unknown := file == conf && strings.HasPrefix(name, "MCPB_") && !settings.Find(name).IsConf()
			if hasNoEffect(name) || unknown {
				c.atLine("ignored.setting", c.label(file), set.Line, "%s has no effect", name)
			}
		}
	}
	for _, file := range []string{".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"} {
		c.clientSettings(abs(c.p.Root, file))
	}
	c.strayFiles()
}

// readBash returns the script in a file, or nil if Bash cannot read it.
func readBash(file string) *bash32.Script {
	text, _, err := folder.ReadFile(file, maxScript)
	if err != nil {
		return nil
	}
	s, _ := bash32.Read(text)
	return s
}

// clientSettings reports variables without effect in a project's file for a client.
func (c *check) clientSettings(file string) {
	doc, ok := c.document(file)
	if !ok {
		return // the client reports it
	}
	for _, list := range []string{"mcpServers", "servers"} {
		for _, server := range rawjson.Members(rawjson.Get(doc, list)) {
			for _, variable := range rawjson.Members(rawjson.Get(server.Value, "env")) {
				if variable.Name == allowlist {
					value, _ := rawjson.Text(variable.Value)
					c.allowed(settings.Words(value), c.label(file))
				}
				if hasNoEffect(variable.Name) {
					c.add(c.near(variable.Value, finding.Finding{ID: "ignored.setting", Path: c.label(file),
						Message: variable.Name + " has no effect"}))
				}
			}
		}
	}
}

// serverNames are the files of the server directory that our programs read.
var serverNames = []string{
	"server.meta.json", "register.json", "register.sh", "policy.sh", "env.sh", "health-checks.sh", "requirements.json",
}

// strayFiles reports scripts and JSON files of the server directory that neither our programs nor a script in that
// directory reads.
func (c *check) strayFiles() {
	entries, err := os.ReadDir(c.p.Server)
	if err != nil {
		return
	}
	var named strings.Builder // the text of all scripts in the directory
	for _, e := range entries {
		if s := readBash(filepath.Join(c.p.Server, e.Name())); s != nil {
			for _, command := range s.Commands {
				for _, word := range command.Words {
					named.WriteString("/" + path.Base(word) + "/")
				}
			}
		}
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != ".sh" && ext != ".json" || slices.Contains(serverNames, e.Name()) ||
			strings.Contains(named.String(), "/"+e.Name()+"/") {
			continue
		}
		message := "is not read by any program"
		if near := cli.Nearest(e.Name(), serverNames); near != "" {
			message += "; did you mean " + near + "?"
		}
		c.at("ignored.file", c.label(filepath.Join(c.p.Server, e.Name())), "%s", message)
	}
}

func effectiveFields(k *kinds.Kind) []string {
	switch k {
	case kinds.Tools:
		return kinds.ToolFields
	case kinds.Prompts:
		return kinds.PromptFields
	case kinds.Completions:
		return schemas.Fields(schemas.Completion)
	}
	isNotUsed := func(field string) bool { return field == "arguments" }
	return slices.DeleteFunc(slices.Clone(kinds.ResourceFields), isNotUsed)
}

func schemaOf(k *kinds.Kind, doc json.RawMessage) string {
	switch {
	case k == kinds.Tools:
		return schemas.Tool
	case k == kinds.Prompts:
		return schemas.Prompt
	case k == kinds.Completions:
		return schemas.Completion
	case rawjson.TextOf(doc, kinds.URITemplate) != "":
		return schemas.Template
	}
	return schemas.Resource
}

func (c *check) declaredFields() {
	file := abs(c.p.Server, declare.JSONFile)
	doc, ok := c.document(file)
	if !ok {
		return // the registry reports it
	}
	for _, k := range kinds.All {
		for entry := range rawjson.Elements(rawjson.Get(doc, k.Key)) {
			c.members(k, entry, c.label(file))
		}
	}
}

// headerFields checks the fields of the inline headers of a kind.
func (c *check) headerFields(k *kinds.Kind) {
	for _, o := range c.offered.items[k] {
		if o.path == "" {
			continue
		}
		file := abs(k.ContentDir(c.p), o.path)
		text, err := boundedfile.ReadHead(file, item.MaxHead)
		if err != nil || isLink(file) {
			continue // the registry reports it
		}
		head, _ := item.Head(text)
		if header, err := item.ParseHeader(head); err == nil && header != nil {
			c.text = head
			c.members(k, header, c.label(file))
		}
	}
}

func (c *check) pageFields() {
	for _, o := range c.offered.items[kinds.UIResources] {
		file := abs(abs(c.p.Root, o.path), kinds.PageMetadata)
		doc, ok := c.document(file)
		if !ok {
			continue // the registry reports it
		}
		c.placeholder(doc, c.label(file))
		c.strays(doc, c.label(file), schemas.UI, false)
		c.types(doc, c.label(file), schemas.UI)
	}
}

// ownFields reports the unknown members of a file that no other program reads.
func (c *check) ownFields(file, schema string) {
	if doc, ok := c.document(file); ok { // otherwise the reader of the file reports it
		c.strays(doc, c.label(file), schema, false)
		c.strays(doc, c.label(file), schema, true)
	}
}

// document reads a small file with JSON. Later findings have places in its text.
func (c *check) document(file string) (doc json.RawMessage, ok bool) {
	text, _, err := folder.ReadFile(file, maxSmall)
	if err != nil {
		return nil, false
	}
	doc, err = rawjson.Check(text)
	c.text = text
	return doc, err == nil
}

// strays reports the unknown members of objects in a document, or those of the document itself.
func (c *check) strays(doc json.RawMessage, label, schema string, inner bool) {
	for _, s := range schemas.Strays(schema, doc) {
		if inner == (s.Depth > 0) && !(inner && c.reportedAt(c.near(s.In, finding.Finding{Path: label}))) {
			c.noEffect(s.Member, label, cli.DidYouMean(s.Name, s.Known))
		}
	}
}

// members checks the members of an item's metadata. The registry reports unknown ones that resemble known ones.
func (c *check) members(k *kinds.Kind, doc json.RawMessage, label string) {
	known := effectiveFields(k)
	for _, m := range unknownFields(doc, known) {
		if item.NearestKey(m.Name, known) == "" {
			c.noEffect(m, label, "")
		}
	}
	c.types(doc, label, schemaOf(k, doc))
}

// unknownFields returns the unknown fields of metadata, except those whose first character reserves them for other
// programs.
func unknownFields(doc json.RawMessage, known []string) []rawjson.Member {
	return slices.DeleteFunc(slices.Clone(rawjson.Members(doc)), func(m rawjson.Member) bool {
		return slices.Contains(known, m.Name) || strings.HasPrefix(m.Name, "$") || strings.HasPrefix(m.Name, "_")
	})
}

func (c *check) noEffect(m rawjson.Member, label, hint string) {
	message := fmt.Sprintf("%q has no effect%s", m.Name, hint)
	c.add(c.near(m.Value, finding.Finding{ID: "ignored.field", Path: label, Message: message}))
}

const allowlist = "MCPBASH_TOOL_ALLOWLIST"

// settings checks the settings of the environment that name tools or modes.
func (c *check) settings() {
	c.allowed(c.p.Calls.Allowlist, "")
	for _, rule := range []*scriptenv.Rule{&c.p.Scripts.Tools, &c.p.Scripts.Providers} {
		if warning := rule.Warning(); warning != "" {
			c.at("env.mode", "", "%s", warning)
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

// known reports each entry of a list that matches none of the names. kind is the kind of the items in messages. Each
// finding is a copy of where, whose message names the list.
func (c *check) known(where finding.Finding, kind string, list, names []string,
	means func(entry, name string) bool) {
	if len(names) == 0 || c.mayBeRegistered() {
		return
	}
	for _, entry := range list {
		if !slices.ContainsFunc(names, func(name string) bool { return means(entry, name) }) {
			c.at(where.ID, where.Path, "%s has %q, which is not a %s%s", where.Message, entry, kind,
				cli.DidYouMean(entry, names))
		}
	}
}

// types reports values that do not match the published schema, unless the registry reports them.
func (c *check) types(doc json.RawMessage, label, name string) {
	for _, m := range rawjson.Members(doc) {
		if digits, isText := rawjson.Text(m.Value); isText && isSeconds(m.Name) && rawjson.PositiveInt(m.Value) > 0 {
			c.add(c.near(m.Value, finding.Finding{ID: "metadata.type", Path: label,
				Message: fmt.Sprintf("%q is the text %q, not a number", m.Name, digits),
				Fix:     fmt.Sprintf("write %q: %s", m.Name, digits)}))
		}
	}
	c.strays(doc, label, name, true)
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

// placeholders checks the placeholders in the texts of prompts.
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
			c.atLine("prompt.placeholder", c.label(file), m.Line, "%s", m.Fault)
		}
	}
}

// completionScripts checks the execute bits of the completion scripts next to prompts and resources.
func (c *check) completionScripts(dir string) {
	sidecars(dir, func(rel, _ string) {
		file := abs(dir, rel)
		stamp := folder.StampOfPath(file)
		if stamp.Mode&0o111 == 0 && c.once("completion "+file) {
			c.executable("completion.not_executable", file, c.label(file), stamp)
		}
	})
}

// sidecars calls a function for each file below a directory with the name of a completion script. rel is its path with
// slashes, and base its name without the suffix.
func sidecars(dir string, f func(rel, base string)) {
	filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		base, isScript := strings.CutSuffix(strings.TrimSuffix(filepath.Base(file), ".sh"), ".completion")
		rel, _ := filepath.Rel(dir, file)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || rel == ".":
		case d.Name()[0] == '.', d.IsDir() && strings.Count(rel, "/") == item.MaxDepth:
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && isScript:
			f(rel, base)
		}
		return nil
	})
}

// findRoots finds the roots of the project, and checks whether the server can use them.
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
	c.at("roots.none", roots.File, "missing, but tools take paths: %s", first)
}
