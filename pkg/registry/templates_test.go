package registry

import (
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// The items of templates (registry section 6, RES-163, RES-166).
func TestTemplates(t *testing.T) {
	item := func(name string) string { return `{"name":"` + name + `","uriTemplate":"x://{y}"}` }
	try(t, kinds.Templates, []finding{
		{"all fields, in their order, nothing else",
			files{"resources/a/x.meta.json": `{"_meta":{"a":1.0},"annotations":{"audience":["user"]},"mimeType":"text/x","description":"d","title":"T",
			"uriTemplate":"x://{a}\r\n/{b}","name":"n","path":"p","provider":"x","icons":[{"src":"data:,x"},5]}`},
			`{"name":"n","uriTemplate":"x://{a}/{b}","title":"T","description":"d","mimeType":"text/x","icons":[{"src":"data:,` +
				`x"}],"annotations":{"audience":["user"]},"_meta":{"a":1.0}}`,
			[]string{"warning mcp.resources.templates: resources/a/x.meta.json: icons[1]: must be an object with the text " +
				"src; left out"}},
		{"two and one without a variable (R-64)", files{"resources/1.meta.json": `{"name":"b","uriTemplate":"x://{y}"}`,
			"resources/2.meta.json": `{"name":"a","uriTemplate":"x://{y}"}`,
			"resources/3.meta.json": `{"name":"c","uriTemplate":"x://y"}`},
			item("a") + "\n" + item("b"), []string{"warning mcp.resources.templates: Auto-discovery resources/3.meta.json: " +
				"'c' uriTemplate has no {variable}, skipping"}},
		{"no name", files{"resources/1.meta.json": `{"uriTemplate":"x://{y}"}`}, "",
			[]string{"warning mcp.resources.templates: Auto-discovery resources/1.meta.json: skipping template without name"}},
		{"empty texts are left out", files{"resources/1.meta.json": `{"name":"a","uriTemplate":"x://{y}","title":"",
			"description":"","mimeType":"","icons":[]}`}, item("a"), nil},
		{"both", files{"resources/1.txt": "", "resources/1.meta.json": `{"name":"a","uri":"x://1","uriTemplate":"x://{y}"}`},
			"",
			[]string{"warning mcp.resources.templates: resources/1.meta.json: uri and uriTemplate are mutually exclusive, " +
				"skipping"}},
		{"a resource has the name", files{"resources/1.meta.json": `{"name":"shared-name","uriTemplate":"x://{y}"}`,
			"resources/shared-name.txt": ""}, "",
			[]string{"warning mcp.resources.templates: Auto-discovery resources/1.meta.json: template name conflicts with " +
				"existing resource 'shared-name', skipping"}},
		{"a resource claims the name and is not listed", files{"resources/1.meta.json": `{"name":"s",
			"uriTemplate":"x://{y}"}`, "resources/s.meta.json": `{"name":"s","uri":"x://s"}`,
			"server.d/register.json": `{"version":1,"resources":[]}`}, "",
			[]string{"warning mcp.resources.templates: Auto-discovery resources/1.meta.json: template name conflicts with " +
				"existing resource 's', skipping"}},
		{"two of a name", files{"resources/1.meta.json": `{"name":"a","uriTemplate":"x://{y}"}`,
			"resources/2.meta.json": `{"name":"a","uriTemplate":"z://{y}"}`}, item("a"),
			[]string{"warning mcp.resources.templates: Auto-discovery resources/2.meta.json: Duplicate template name in " +
				"auto-discovery: a (keeping first)"}},
		{"unnameable", files{"resources/1.meta.json": `{"name":"a\u0007","uriTemplate":"x://{y}"}`}, "",
			[]string{"error mcp.resources.templates: Skipping template resources/1.meta.json: its name contains control " +
				"characters"}},
		{"wrong types", files{"resources/1.meta.json": `{"name":"a","uriTemplate":5,"uri":"x://a"}`,
			"resources/2.meta.json": `{"name":"b","uri":5,"uriTemplate":"x://{y}"}`}, item("b"),
			[]string{`warning mcp.resources: resources/1.meta.json: "uriTemplate" must be a string; ignored`,
				`warning mcp.resources.templates: resources/2.meta.json: "uri" must be a string; ignored`}},
		{"register.json lays them over (R-64)", files{"resources/1.meta.json": `{"name":"override-me",
			"uriTemplate":"x://{y}"}`, "resources/2.meta.json": `{"name":"z","uriTemplate":"x://{y}"}`, "resources/r.txt": "",
			"server.d/register.json": `{"version":1,"resourceTemplates":[
				{"name":"override-me","uriTemplate":"mine://{y}","odd":1}, {"name":"r","uriTemplate":"x://{y}"}, {"name":"m","uriTemplate":"x://{y}"}, {"name":"m","uriTemplate":"other://{y}"},
				{"uriTemplate":"x://{y}"}, {"name":"two","uri":"x://1","uriTemplate":"x://{y}"}, {"name":"none"}, {"name":"bare","uriTemplate":"x://{ }"}, 5]}`},
			item("m") + "\n" + `{"name":"override-me","uriTemplate":"mine://{y}"}` + "\n" + item("z"),
			[]string{
				"info mcp.resources.templates: Manual template overrides auto-discovered template 'override-me'",
				"warning mcp.resources.templates: Manual template name conflicts with existing resource 'r', skipping",
				"warning mcp.resources.templates: Duplicate template name in manual registration: m (keeping first)",
				"error mcp.resources.templates: register.json: resourceTemplates[4]: Manual template missing required 'name' " +
					"field; left out",
				"error mcp.resources.templates: register.json: resourceTemplates[8]: not an object; left out",
				"error mcp.resources.templates: register.json: resourceTemplates[5]: Manual template 'two' has both uri and " +
					"uriTemplate (mutually exclusive); left out",
				"error mcp.resources.templates: register.json: resourceTemplates[6]: Manual template missing required " +
					"'uriTemplate' field; left out",
				"error mcp.resources.templates: register.json: resourceTemplates[7]: Template 'bare' uriTemplate must contain at " +
					"least one {variable}; left out",
			}},
		{"nothing usable in register.json", files{"resources/1.meta.json": `{"name":"a","uriTemplate":"x://{y}"}`,
			"server.d/register.json": `{"version":1,"resourceTemplates":[{}]}`}, item("a"),
			[]string{"error mcp.resources.templates: register.json: resourceTemplates[0]: Manual template missing required " +
				"'name' field; left out"}},
		{"an empty array disables the kind", files{"resources/1.meta.json": `{"name":"a","uriTemplate":"x://{y}"}`,
			"server.d/register.json": `{"version":1,"resourceTemplates":[]}`}, "", nil},
		{"null does not", files{"resources/1.meta.json": `{"name":"a","uriTemplate":"x://{y}"}`,
			"server.d/register.json": `{"version":1,"resourceTemplates":null}`}, item("a"), nil},
	})
}

// templates are compared with the resources of the same check, even if the TTL of the
// resources has not ended.
func TestTemplatesSeeTheirResources(t *testing.T) {
	env := project.Env{"MCP_RESOURCES_TTL": "3600", "MCP_RESOURCES_TEMPLATES_TTL": "5"}
	b := newBed(t, env, files{"resources/1.meta.json": `{"name":"a","uriTemplate":"x://{y}"}`})
	want(t, b.listing(kinds.Resources), "")
	want(t, b.listing(kinds.Templates), `{"name":"a","uriTemplate":"x://{y}"}`)
	b.Put(files{"resources/a.txt": ""})
	b.Advance(6 * time.Second)
	want(t, b.listing(kinds.Templates), "")
	b.Remove("resources/a.txt")
	want(t, b.refresh("").Kinds[2].Count, 1)
	b.Put(files{"resources/a.txt": ""})
	b.Advance(6 * time.Second)
	want(t, b.changed(Poll{}), allKinds)
	want(t, b.listing(kinds.Templates), "")
	b.Advance(6 * time.Second)
	want(t, b.changed(Poll{}), "")
	// If the resources are not available, templates can have their names.
	b.reopen(project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "300"}, Options{})
	if _, err := b.List(t.Context(), kinds.Resources); err == nil {
		t.Fatal("there are resources")
	}
	want(t, b.listing(kinds.Templates), `{"name":"a","uriTemplate":"x://{y}"}`)
}
