package validate

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// offered has the items that the server would offer, and its messages.
type offered struct {
	items map[*kinds.Kind][]offer
	said  map[string][]finding.Finding // by section, not reported yet
	byDir map[*kinds.Kind]map[string][]offer
}

type offer struct {
	name string
	path string // of its file, relative to the directory of its kind, or ""
	json json.RawMessage
}

// loadRegistry lets the registry scan the project as the server does, without writing. It does not run register.sh.
func (c *check) loadRegistry() *offered {
	o := &offered{items: map[*kinds.Kind][]offer{}, said: map[string][]finding.Finding{}}
	p := *c.p
	p.Discovery.Static, p.Discovery.SubPath = false, "" // check the files
	section := ""
	said := func(f finding.Finding) {
		f.Section = cmp.Or(f.Section, section)
		o.said[f.Section] = append(o.said[f.Section], f)
		if Rules().Find(f.ID).Severity == finding.Error {
			c.broken[f.Path] = true
		}
	}
	catalog := registry.NewCatalog(&p, registry.Options{
		ReadOnly: true,
		OnMessage: func(m item.Message) {
			if f, ok := c.reported(m); ok {
				said(f)
			}
		},
	})
	for _, k := range kinds.All {
		section = sectionOf(k)
		list, err := catalog.Fresh(c.ctx, k)
		if failed, ok := errors.AsType[*registry.Failure](err); ok && c.once("failure "+failed.Reason) {
			said(c.unavailable(failed))
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

// reportRegistry reports the registry's messages about the current section, unless a check here has
// reported the same fault.
func (c *check) reportRegistry() {
	for _, f := range c.offered.said[c.section] {
		reported := c.found[fileRule{f.Path, f.ID}]
		for _, id := range sameFault[f.ID] {
			reported = reported || c.found[fileRule{f.Path, id}]
		}
		if !reported {
			c.note(f)
		}
	}
}

var unreadableFile = []string{"metadata.invalid_json", "metadata.unreadable"}

// sameFault has, for a rule, the rules of checks here for the same fault.
var sameFault = map[string][]string{"metadata.invalid_json": unreadableFile, "declaration.unreadable": unreadableFile}

var ruleOf = [...]string{
	item.Other: "registry.reported", item.Malformed: "metadata.invalid_json", item.Declaration: "declaration.unreadable",
	item.ClientName: "name.not_portable", item.UnusableName: "name.unusable", item.MissingName: "metadata.no_name",
	item.Duplicate: "name.duplicate", item.UnknownKey: "metadata.unknown_key", item.Misplaced: "tool.misplaced",
	item.BadSchema: "schema.invalid", item.BadIcons: "icons.form", item.UnreadableIcon: "icons.unreadable",
	item.Ignored: "metadata.ignored", item.LeftOut: "metadata.ignored", item.BothURIs: "resource.both_uris",
	item.MissingVariable: "resource.no_variable", item.MissingURI: "resource.no_uri",
	item.MissingText: "prompt.no_text",
}

// reported returns a message of the registry as a finding. ok is false for messages that are not
// faults, or that repeat an error.
func (c *check) reported(m item.Message) (f finding.Finding, ok bool) {
	if m.Level < mcp.Warning || m.Topic == item.Unavailable {
		return f, false
	}
	f = finding.Finding{ID: ruleOf[m.Topic], Path: m.At.File, Line: m.At.Line, Column: m.At.Column, Message: m.Text}
	if m.At.Part != "" {
		f.Message = m.At.Part + ": " + m.Text
	}
	switch f.Path {
	case declare.JSONFile, declare.HookFile:
		if f.Path == declare.JSONFile && m.Topic == item.LeftOut {
			f.ID = "register.invalid"
		}
		f.Path, f.Section = c.label(abs(c.p.Server, f.Path)), inServer
	}
	return f, true
}

func (c *check) unavailable(failed *registry.Failure) finding.Finding {
	f := finding.Finding{ID: "registry.unavailable", Message: failed.Reason}
	if fault, ok := errors.AsType[*declare.Fault](failed); ok {
		f.ID, f.Section, f.Path = "register.invalid", inServer, c.label(abs(c.p.Server, declare.JSONFile))
		f.Line, f.Column = fault.Line, fault.Column
	}
	return f
}

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

func (o *offered) entries(k *kinds.Kind) (list []json.RawMessage) {
	for _, one := range o.items[k] {
		list = append(list, one.json)
	}
	return list
}

// metadataOf returns the possible metadata files of a content file, by precedence.
func metadataOf(file string) (names []string) {
	for _, name := range item.MetadataNames(path.Base(file)) {
		if name != "" {
			names = append(names, path.Join(path.Dir(file), name))
		}
	}
	return names
}

// skills checks the skills of the project (SK-13).
func (c *check) skills() {
	list, faults, err := skill.Read(skill.Dir(c.p.Root))
	if err != nil {
		c.add(finding.Finding{ID: "skill.invalid", Path: "skills", Message: err.Error()})
	}
	for _, s := range list {
		c.good("skill.valid", path.Join("skills", s.Name), "valid")
	}
	for _, f := range faults {
		c.add(finding.Finding{ID: "skill.invalid", Path: path.Join("skills", f.File), Message: f.Text})
	}
}
