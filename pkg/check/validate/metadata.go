package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/toolnames"
)

// listing returns the entries of a directory in byte order, without links and hidden names. A
// missing directory is empty.
func (c *check) listing(dir string) []folder.Entry {
	d, err := folder.Open(dir)
	if err != nil {
		if !folder.Missing(err) {
			c.at("folder.unreadable", c.label(dir), "cannot be read: %v", fsys.Cause(err))
		}
		return nil
	}
	defer d.Close()
	entries, err := d.List(make([]byte, 32<<10))
	if err != nil {
		c.at("folder.unreadable", c.label(dir), "cannot be read: %v", fsys.Cause(err))
	}
	return slices.DeleteFunc(entries, func(e folder.Entry) bool {
		if e.Odd {
			return true
		}
		why := folder.Unusable(e.Name)
		if why != "" {
			c.at("folder.bad_name", "", "%s: unsupported directory name (%s)", c.label(dir), why)
		}
		return why != ""
	})
}

// missing reports that a directory lacks a file. A directory that cannot be read has its own finding.
func (c *check) missing(rule, dir, file string) {
	if d, err := folder.Open(dir); err == nil {
		d.Close()
		c.at(rule, c.label(file), "missing")
	}
}

// tools checks the directories of tools and their scripts.
func (c *check) tools() {
	c.danglingLinks(c.p.Tools)
	for _, e := range c.listing(c.p.Tools) {
		if !e.IsDir {
			continue
		}
		dir := abs(c.p.Tools, e.Name)
		offers := c.offered.byDir[dirOfKind{kinds.Tools, e.Name}]
		offered := len(offers) > 0 || c.mayBeRegistered()
		entries := c.listing(dir)
		meta := abs(dir, "tool.meta.json")
		described := holds(entries, "tool.meta.json")
		if !described && !offered {
			c.missing("metadata.missing", dir, meta)
		}
		if described {
			c.toolMetadata(meta, e.Name)
		}
		for _, o := range offers {
			for _, name := range metadataOf(o.path) {
				file := abs(c.p.Tools, name)
				if file != meta && folder.StampOfPath(file).IsFile() {
					c.toolMetadata(file, "")
					break
				}
			}
		}
		switch file := abs(dir, "tool.sh"); {
		case isLink(file):
			c.link(file, c.label(file))
		case holds(entries, "tool.sh"): // even if register.json omits it
			c.script(c.p.Tools, file, toolScript)
			c.unconfirmed(dir)
			c.imported(dir)
		case !offered:
			c.missing("script.missing", dir, file)
		}
		for _, o := range offers {
			c.script(c.p.Tools, abs(c.p.Tools, o.path), toolScript)
		}
	}
	for _, o := range c.offered.items[kinds.Tools] { // a declared tool may have no directory
		if o.path != "" {
			c.script(c.p.Tools, abs(c.p.Tools, path.Clean(o.path)), toolScript)
		}
	}
	c.pathsWithoutRoots()
	c.headerFields(kinds.Tools)
}

func holds(entries []folder.Entry, file string) bool {
	return slices.Contains(entries, folder.Entry{Name: file})
}

// toolMetadata checks the metadata file of a tool. dir is the directory that the tool's name must match, or "".
func (c *check) toolMetadata(file, dir string) {
	doc, label := c.metadata(file)
	if doc == nil {
		return
	}
	name := rawjson.TextOf(doc, "name")
	c.named(doc, label)
	c.description(doc, label)
	c.schemas(doc, label)
	c.members(kinds.Tools, doc, label)
	c.confine(doc, label)
	if name == "" {
		return
	}
	if !strings.ContainsAny(name, "-_.") && c.once("name.no_namespace") {
		c.add(finding.Finding{ID: "name.no_namespace", Path: label,
			Message: fmt.Sprintf("namespace recommended (prefix tool name, e.g., myproj_%s)", name),
			Fix:     fmt.Sprintf("put the server's name before it: %s_%s", c.namespace(), name)})
	}
	legal := toolnames.IsPortable(name)
	if !legal {
		c.at("name.not_portable", label, "tool name must match ^[a-zA-Z0-9_-]{1,64}$ (Some clients including Claude "+
			"Desktop reject dots)")
	}
	if dir != "" && !c.namesMatch(dir, name) {
		c.at("name.not_directory", c.label(filepath.Dir(file)), "directory name does not match tool.meta.json name %q", name)
	}
	if legal {
		c.valid(label)
	}
}

func (c *check) description(doc json.RawMessage, label string) {
	if rawjson.TextOf(doc, "description") == "" {
		c.at("metadata.no_description", label, `missing "description"`)
	}
	c.placeholder(doc, label)
}

// placeholderText matches text of templates that authors must replace.
var placeholderText = lazyregexp.New(`(?i)\b(say|describe|put) here (in one sentence )?what\b|(?m)^\W*fill in\W*$`)

// placeholder reports a description that still has text of a template.
func (c *check) placeholder(doc json.RawMessage, label string) {
	description := rawjson.Get(doc, "description")
	if found := placeholderText.FindString(rawjson.TextOf(doc, "description")); found != "" {
		message := fmt.Sprintf("the description has placeholder text: %q", strings.Trim(found, " -\n"))
		c.add(c.near(description, finding.Finding{ID: "metadata.placeholder", Path: label, Message: message}))
	}
}

// namesMatch compares a directory with the name of its tool, with or without the prefix of the server.
func (c *check) namesMatch(dir, name string) bool {
	if lettersOf(dir) == lettersOf(name) {
		return true
	}
	for _, server := range []string{c.p.Meta.Name, c.namespace()} {
		if rest, found := strings.CutPrefix(name, server+"_"); found && lettersOf(dir) == lettersOf(rest) {
			return true
		}
	}
	name = strings.TrimPrefix(name, c.p.Meta.Name+"-")
	name = name[strings.LastIndexByte(name, '.')+1:]
	return lettersOf(dir) == lettersOf(name)
}

// namespace returns the name of the server in the form that all clients keep, for the names of tools.
func (c *check) namespace() string {
	return notPlain.ReplaceAllString(c.p.Meta.Name, "_")
}

var notPlain = lazyregexp.New(`[^A-Za-z0-9]`)

func lettersOf(name string) string { return notPlain.ReplaceAllString(strings.ToLower(name), "") }

// metadata reads a metadata file as the server does. It reports invalid files and returns nil for them.
func (c *check) metadata(file string) (doc json.RawMessage, label string) {
	label = c.label(file)
	text, _, err := folder.ReadFile(file, item.MaxMetadata)
	if err == nil {
		if doc, c.text, err = item.ParseMetadata(text); err == nil {
			return doc, label
		}
		f := parseFault("metadata.invalid_json", label, err)
		f.Message, f.Fix = "invalid JSON", f.Message+"; correct it, the server ignores the whole file"
		c.add(f)
		return nil, label
	}
	if !folder.Vanished(err) {
		c.at("metadata.unreadable", label, "cannot be read: %v", fsys.Cause(err))
	}
	return nil, label
}

// parseFault returns a finding with the place and the reason of a parse error.
func parseFault(id, label string, err error) finding.Finding {
	f := finding.Finding{ID: id, Path: label, Message: fsys.Cause(err).Error()}
	if syntax, ok := errors.AsType[*item.SyntaxError](err); ok {
		f.Line, f.Column, f.Message = syntax.Line, syntax.Column, syntax.Reason
	}
	return f
}

type content struct {
	kinds   []*kinds.Kind
	dir     string
	item    func(doc json.RawMessage, label string) // checks one metadata file
	missing func(dir, name string)                  // called for a directory without items; may be nil
}

func (c *check) prompts() {
	c.danglingLinks(c.p.Prompts)
	t := content{kinds: []*kinds.Kind{kinds.Prompts}, dir: c.p.Prompts}
	t.item = func(doc json.RawMessage, label string) {
		c.members(kinds.Prompts, doc, label)
		if c.named(doc, label) {
			c.description(doc, label)
			c.valid(label)
		}
	}
	t.missing = func(dir, name string) {
		entries := c.listing(dir)
		if !holds(entries, name+".txt") && !holds(entries, name+".sh") {
			c.at("prompt.no_text", c.label(dir), "missing prompt.txt or prompt.sh")
		}
	}
	c.tree(t)
	c.headerFields(kinds.Prompts)
	c.placeholders()
	c.completionScripts(c.p.Prompts)
	for _, o := range c.offered.items[kinds.Completions] {
		c.script(c.p.Root, abs(c.p.Root, o.path), otherScript)
	}
}

func (c *check) resources() {
	c.danglingLinks(c.p.Resources)
	t := content{kinds: []*kinds.Kind{kinds.Resources, kinds.Templates}, dir: c.p.Resources}
	t.item = func(doc json.RawMessage, label string) {
		if name := rawjson.TextOf(doc, "name"); c.describedBy[name] == "" {
			c.describedBy[name] = label
		}
		c.members(kinds.Resources, doc, label)
		c.placeholder(doc, label)
		if !c.named(doc, label) {
			return
		}
		for _, field := range []string{"uri", kinds.URITemplate} {
			if uri := rawjson.TextOf(doc, field); uri != "" && !strings.Contains(uri, "://") {
				c.at("resource.odd_uri", label, "%s does not look like scheme://...", field)
			}
		}
		c.valid(label)
	}
	c.tree(t)
	c.headerFields(kinds.Resources)
	c.completionScripts(c.p.Resources)
	c.pageFields()
	c.provided()
}

func (c *check) named(doc json.RawMessage, label string) bool {
	if rawjson.TextOf(doc, "name") != "" {
		return true
	}
	c.at("metadata.no_name", label, `missing required "name"`)
	return false
}

// tree checks all metadata files below a directory, and D/D.sh of its subdirectories.
func (c *check) tree(t content) {
	entries := c.listing(t.dir)
	c.described(t, t.dir, entries)
	for _, e := range entries {
		if !e.IsDir {
			continue
		}
		dir := abs(t.dir, e.Name)
		offers := 0
		for _, k := range t.kinds {
			offers += len(c.offered.byDir[dirOfKind{k, e.Name}])
		}
		found := c.below(t, dir, 1)
		if offers == 0 && found == 0 && !c.mayBeRegistered() {
			c.missing("metadata.missing", dir, abs(dir, e.Name+item.MetadataSuffix))
			if t.missing != nil {
				t.missing(dir, e.Name)
			}
		}
		if file := abs(dir, e.Name+".sh"); folder.StampOfPath(file).IsFile() {
			c.script(t.dir, file, otherScript)
		}
	}
}

func (c *check) below(t content, dir string, depth int) (found int) {
	entries := c.listing(dir)
	found = c.described(t, dir, entries)
	for _, e := range entries {
		if e.IsDir && depth < item.MaxDepth {
			found += c.below(t, abs(dir, e.Name), depth+1)
		}
	}
	return found
}

func (c *check) described(t content, dir string, entries []folder.Entry) (found int) {
	for _, e := range entries {
		if !e.IsDir && strings.HasSuffix(e.Name, item.MetadataSuffix) {
			found++
			if doc, label := c.metadata(abs(dir, e.Name)); doc != nil {
				t.item(doc, label)
			}
		}
	}
	return found
}

// dialect is the JSON Schema dialect that clients assume for a schema without $schema. The official
// libraries write draft-07.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// schemas checks the schemas of a tool. The registry has checked each keyword.
func (c *check) schemas(doc json.RawMessage, label string) {
	input := rawjson.Get(doc, "inputSchema")
	if rawjson.Absent(input) {
		input = rawjson.Get(doc, "arguments")
	}
	if rawjson.KindOf(input) == rawjson.Object && rawjson.Get(input, "type") == nil &&
		rawjson.Get(input, "properties") == nil {
		c.at("schema.empty", label, `inputSchema has no "type" or "properties"`)
	}
	c.schema("inputSchema", input, label)
	_, faults := paramheader.Parse(input)
	for _, fault := range faults { // H-441
		message := paramheader.Annotation + " " + fault.Reason
		c.add(c.near(fault.Piece, finding.Finding{ID: "schema.header", Path: label, Message: message}))
	}
	output := rawjson.Get(doc, "outputSchema")
	c.schema("outputSchema", output, label)
	if rawjson.KindOf(output) == rawjson.Object && rawjson.TextOf(output, "type") != "object" {
		c.at("schema.output_type", label, `outputSchema is not of "type": "object"`)
	}
}

func (c *check) schema(name string, v json.RawMessage, label string) {
	if rawjson.KindOf(v) != rawjson.Object {
		return // absent, or reported by the registry
	}
	if given := rawjson.TextOf(v, "$schema"); given != "" && strings.TrimSuffix(given, "#") != dialect {
		c.at("schema.dialect", label, "%s is of the dialect %s, not JSON Schema 2020-12", name, given)
	}
	if _, err := schema.Compile(v); err != nil {
		f := finding.Finding{ID: "schema.unusable", Path: label, Message: fmt.Sprintf("%s cannot be used: %v", name, err)}
		if form, ok := errors.AsType[*schema.FormError](err); ok {
			f = c.near(form.Piece, f)
		}
		c.add(f)
	}
}
