package validate

import (
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"

	"mcp-bash/pkg/finding"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// offered is what the server would offer of the project, and what it would say about the
// rest.
type offered struct {
	items map[*kinds.Kind][]offer
	said  map[string][]finding.Finding // by section, not reported yet
	byDir map[*kinds.Kind]map[string][]offer
}

// An offer is one item of the registry.
type offer struct {
	name string
	path string // of its file, relative to the directory of its kind; "" without one
	json json.RawMessage
}

// takeStock has the registry look at the project, as the server does, and writes nothing.
// What register.sh would add is left out, as it is not run.
func (c *check) takeStock() *offered {
	o := &offered{items: map[*kinds.Kind][]offer{}, said: map[string][]finding.Finding{}}
	p := *c.p
	p.Discovery.Static, p.Discovery.SubPath = false, "" // it is the files that are checked
	section := ""
	catalog := registry.NewCatalog(&p, registry.Options{
		ReadOnly: true,
		Log: func(level mcp.Level, _, text string) {
			if f, ok := c.told(level, text); ok {
				if strings.HasPrefix(f.Path, c.label(p.Server)+"/") {
					f.Section = inServer
				} else {
					f.Section = section
				}
				o.said[f.Section] = append(o.said[f.Section], f)
				if Rules.Find(f.ID).Severity == finding.Error {
					c.broken[f.Path] = true
				}
			}
		},
	})
	for _, k := range kinds.All {
		section = sectionOf(k)
		list, err := catalog.Fresh(c.ctx, k)
		var failed *registry.Failure
		if errors.As(err, &failed) && c.once("failure "+failed.Reason) {
			o.said[inServer] = append(o.said[inServer], finding.Finding{
				ID: "register.invalid", Section: inServer, Message: failed.Reason,
				Path: c.label(abs(p.Server, "register.json")),
			})
		}
		if err != nil {
			continue
		}
		for _, entry := range list.Items {
			o.items[k] = append(o.items[k], offer{entry.Name, rawjson.TextOf(entry.JSON, "path"), entry.JSON})
		}
	}
	return o
}

// reportStock reports what the registry says of the current section.
func (c *check) reportStock() {
	for _, f := range c.offered.said[c.section] {
		c.add(f)
	}
}

// causes tell what a message of the registry is about, by a part of its text. The first
// that fits counts; an empty id is a cause that a check here reports in words of its own.
var causes = []struct{ part, id string }{
	{"Malformed metadata ", ""},
	{"; the tool does not run", ""},
	{" is refused by some clients", ""},
	{"Declarative register.json", ""}, // the failure of the kind itself
	{"uri and uriTemplate are mutually exclusive, skipping", ""},
	{"skipping template without name", ""},
	{"must be an object with the text src", ""},
	{`"icons" must be an array`, ""},
	{"uriTemplate has no {variable}, skipping", ""},
	{`no "uri" or "uriTemplate" in it; ignored`, ""},
	{"Duplicate ", "name.duplicate"},
	{"name conflicts with existing resource", "name.duplicate"},
	{"unknown key ", "metadata.unknown_key"},
	{"is not offered: a tool lies in a directory of its own", "tool.misplaced"},
	{": its name ", "name.unusable"},
	{"Schema", "schema.invalid"},
	{"parameters", "schema.invalid"},
	{"icon ", "icons.unreadable"},
	{"unknown capability", "metadata.ignored"},
	{"left out", "metadata.ignored"},
	{"ignored", "metadata.ignored"},
}

// told is a message of the registry as a finding; ok is false for what is no fault, or is
// reported elsewhere.
func (c *check) told(level mcp.Level, text string) (f finding.Finding, ok bool) {
	if level < mcp.Warning {
		return f, false
	}
	id := "registry.reported"
	for _, cause := range causes {
		if strings.Contains(text, cause.part) {
			id = cause.id
			break
		}
	}
	if id == "" {
		return f, false
	}
	f = finding.Finding{ID: id, Message: text}
	f.Path, f.Line, _, f.Message = c.place(text)
	if name, entry := strings.CutPrefix(f.Path, "register.json"); entry && name == "" {
		f.Path = c.label(abs(c.p.Server, "register.json"))
		if strings.HasSuffix(text, "; left out") && id == "metadata.ignored" {
			f.ID = "register.invalid"
		}
	}
	return f, true
}

// place takes the file, and the line and column where they are given, off the beginning of a message.
func (c *check) place(text string) (file string, line, column int, rest string) {
	head, rest, found := strings.Cut(text, ": ")
	if !found {
		return "", 0, 0, text
	}
	file = head
	if before, column, ok := cutNumber(head); ok && column > 0 {
		if name, n, ok := cutNumber(before); ok {
			return name, n, column, rest
		}
	}
	for _, dir := range []string{c.p.Tools, c.p.Prompts, c.p.Resources, c.p.UI, c.p.Server} {
		if strings.HasPrefix(file, folder.Label(c.p.Root, dir)+"/") {
			return file, 0, 0, rest
		}
	}
	return "", 0, 0, text
}

// cutNumber splits "text:12".
func cutNumber(text string) (before string, n int, ok bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[at+1:])
	return text[:at], n, err == nil && n > 0
}

// below returns the offers of a kind whose files lie in a directory of its content, at any
// depth.
func (o *offered) below(k *kinds.Kind, dir string) []offer {
	if o.byDir == nil {
		o.byDir = map[*kinds.Kind]map[string][]offer{}
	}
	if o.byDir[k] == nil {
		o.byDir[k] = map[string][]offer{}
		for _, one := range o.items[k] {
			top, _, _ := strings.Cut(one.path, "/")
			o.byDir[k][top] = append(o.byDir[k][top], one)
		}
	}
	return o.byDir[k][dir]
}

// entries returns the registry entries of a kind.
func (o *offered) entries(k *kinds.Kind) (list []json.RawMessage) {
	for _, one := range o.items[k] {
		list = append(list, one.json)
	}
	return list
}

// metadataOf returns the metadata files that a content file may have, the first first.
func metadataOf(file string) (names []string) {
	for _, name := range item.MetadataNames(path.Base(file)) {
		if name != "" {
			names = append(names, path.Join(path.Dir(file), name))
		}
	}
	return names
}
