package plugins

import (
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
)

// templates are the agents' manifests. A placeholder such as @name@ is replaced by a value of [Plugin.values]. Members
// with empty values are omitted. The member @variable@ becomes one member for each field.
//
//go:embed all:manifests
var templates embed.FS

// values are the values of placeholders. The value of a text that is only a placeholder can be any JSON.
type values struct {
	texts  map[string]string
	lists  map[string]json.RawMessage // nil: empty
	fields []Field
}

func (p *Plugin) values() *values {
	v := &values{fields: p.Fields, texts: map[string]string{
		"name": p.Name, "title": p.Title, "shownName": cmp.Or(p.Title, p.Name), "version": p.Version,
		"description": p.Description, "author": p.Author.Name, "email": p.Author.Email, "url": p.Author.URL,
		"homepage": p.Homepage, "repository": p.Repository, "license": p.License, "icon": p.Icon, "skills": "",
	}, lists: map[string]json.RawMessage{"keywords": nil, "userConfig": nil, "settings": nil}}
	if p.Skills {
		v.texts["skills"] = "./skills/"
	}
	if len(p.Keywords) > 0 {
		v.lists["keywords"] = new(rawjson.Builder).Strings(p.Keywords).Bytes()
	}
	passed := []string{roots.Variable} // by Codex, which passes few variables on by itself
	var config, settings rawjson.Builder
	config.Object()
	settings.Array()
	seen := map[string]bool{}
	for _, f := range p.Fields {
		if f.Variable != roots.Variable {
			passed = append(passed, f.Variable)
		}
		if !seen[f.Key] {
			config.Name(f.Key).Raw(f.Value)
		}
		seen[f.Key] = true
		title := rawjson.TextOf(f.Value, "title")
		settings.Object().Name("name").String(cmp.Or(title, f.Key)).
			Name("description").String(cmp.Or(rawjson.TextOf(f.Value, "description"), title, f.Key)).
			Name("envVar").String(f.Variable).Name("sensitive").Bool(rawjson.True(rawjson.Get(f.Value, "sensitive"))).End()
	}
	if len(p.Fields) > 0 {
		v.lists["userConfig"], v.lists["settings"] = config.End().Bytes(), settings.End().Bytes()
	}
	v.lists["passed"] = new(rawjson.Builder).Strings(passed).Bytes()
	return v
}

// manifests returns the manifests for all agents.
func (p *Plugin) manifests() (list []mcpb.File) {
	v := p.values()
	fs.WalkDir(templates, "manifests", func(name string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			text, _ := templates.ReadFile(name)
			list = append(list, document(strings.TrimPrefix(name, "manifests/"), v.fill(text)))
		}
		return nil
	})
	return list
}

// fill returns a part of a template with its values, or nil if it is empty.
func (v *values) fill(part json.RawMessage) json.RawMessage {
	switch rawjson.KindOf(part) {
	case rawjson.Object:
		var b rawjson.Builder
		b.Object()
		for _, m := range rawjson.Members(part) {
			if text, _ := rawjson.Text(m.Value); m.Name == "@variable@" {
				for _, f := range v.fields {
					b.Name(f.Variable).String(strings.NewReplacer("@variable@", f.Variable, "@key@", f.Key).Replace(text))
				}
			} else if value := v.fill(m.Value); value != nil {
				b.Name(v.replace(m.Name)).Raw(value)
			}
		}
		if text := b.End().Bytes(); string(text) != "{}" {
			return text
		}
		return nil
	case rawjson.String:
		text, _ := rawjson.Text(part)
		if value, isList := v.lists[strings.Trim(text, "@")]; isList {
			return value
		}
		for name, value := range v.texts {
			if value == "" && strings.Contains(text, "@"+name+"@") {
				return nil
			}
		}
		return rawjson.Quote(v.replace(text))
	}
	return part
}

func (v *values) replace(text string) string {
	var pairs []string
	for name, value := range v.texts {
		pairs = append(pairs, "@"+name+"@", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
