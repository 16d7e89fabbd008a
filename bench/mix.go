package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"mcp-bash/bench/work"
)

// A mix is how many items of each kind a project has.
type mix struct{ tools, resources, templates, prompts, pages, completions int }

// mixOf is n items of all kinds.
func mixOf(n int) mix {
	m := mix{resources: n / 4, templates: n / 10, prompts: n / 5, pages: n / 25, completions: n / 100}
	m.tools = n - m.resources - m.templates - m.prompts - m.pages - m.completions
	return m
}

func (m mix) String() string {
	var parts []string
	for _, of := range []struct {
		n    int
		what string
	}{{m.tools, "tools"}, {m.resources, "resources"}, {m.templates, "templates"}, {m.prompts, "prompts"},
		{m.pages, "UI pages"}, {m.completions, "completions"}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	return strings.Join(parts, ", ")
}

// nameOf is the name of the item with a number.
func nameOf(kind string, i int) string { return fmt.Sprintf("%s-%05d", kind, i) }

// make makes the project. Every item has its metadata, but for completions,
// which are registered by hand.
func (m mix) make(name string) (root string, err error) {
	root = project(name)
	w := &writer{}
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	w.file(in("server.d", "server.meta.json"), `{"name":"bench","version":"1.0.0"}`+"\n", 0o644)
	for i := range m.tools {
		name := nameOf("tool", i)
		w.tool(in("tools", name), name, "")
	}
	for i := range m.resources {
		name := nameOf("resource", i)
		dir := in("resources", fmt.Sprintf("part-%02d", i/100))
		w.file(filepath.Join(dir, name+".txt"), "The text of "+name+".\n", 0o644)
		w.file(filepath.Join(dir, name+".meta.json"), fmt.Sprintf(
			"{\n  \"name\": %q,\n  \"description\": \"What is known of %s\",\n  \"mimeType\": \"text/plain\",\n  "+
				"\"annotations\": {\"audience\": [\"user\"], \"priority\": 0.5}\n}\n", name, name), 0o644)
	}
	for i := range m.templates {
		name := nameOf("template", i)
		w.file(in("resources", "templates", name+".meta.json"), fmt.Sprintf(
			"{\n  \"name\": %q,\n  \"description\": \"Logs of a service\",\n  \"uriTemplate\": \"file:///var/log/%s/{service}"+
				"/{date}.log\",\n  \"mimeType\": \"text/plain\"\n}\n", name, name), 0o644)
	}
	for i := range m.prompts {
		name := nameOf("prompt", i)
		w.file(in("prompts", name, name+".txt"), "Write a review of {{"+work.Argument+"}}.\n", 0o644)
		w.file(in("prompts", name, name+".meta.json"), fmt.Sprintf(
			"{\n  \"name\": %q,\n  \"description\": %q,\n  \"arguments\": [{\"name\": %q, \"description\": %q, \"required\": "+
				"true}]\n}\n",
			name, work.PromptDescription, work.Argument, work.ArgumentUse), 0o644)
	}
	for i := range m.pages {
		dir := in("ui", nameOf("page", i))
		w.file(filepath.Join(dir, "index.html"), "<!doctype html><title>A page</title><p>Nothing</p>\n", 0o644)
		w.file(filepath.Join(dir, "ui.meta.json"),
			"{\n  \"description\": \"A page\",\n  \"meta\": {\"prefersBorder\": false}\n}\n", 0o644)
	}
	var registered []string
	for i := range m.completions {
		file := filepath.Join("completions", nameOf("complete", i)+".sh")
		w.file(in(file), shebang, 0o755)
		registered = append(registered, fmt.Sprintf(`{"name":%q,"path":%q}`, nameOf("prompt", i),
			filepath.ToSlash(file)))
	}
	if registered != nil {
		w.file(in("server.d", "register.json"), `{"version":1,"completions":[`+strings.Join(registered, ",\n")+"]}\n",
			0o644)
	}
	return root, w.err
}
