//go:build unix

package resource

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// RES-40: the type of a template is for URIs without an entry. A template that matches takes
// precedence over one that can only become the URI, even if it declares no type.
func TestTypeOfTemplate(t *testing.T) {
	b := open(t, map[string]string{"resources/a.md": "a", "resources/b.md": "b", "resources/c.md": "c",
		"resources/d.md": "d", "resources/e/f.md": "f"}, []string{
		`{"name":"a","path":"a.md","uri":"file://{R}/resources/a.md","mimeType":"text/markdown","provider":"file"}`,
	}, nil)
	b.templates = []urimatch.Template{
		{Name: "all", Text: b.fill("file://{R}/resources{/path*}"), MIMEType: "application/x-form"},
		{Name: "b", Text: b.fill("file://{R}/resources/b.{x}"), MIMEType: "application/x-promised"},
		{Name: "c", Text: b.fill("file://{R}/resources/c.{x}")},
	}
	for name, want := range map[string]string{"a": "text/markdown", "b": "application/x-promised",
		"c": "text/markdown", "d": "application/x-form", "e/f": "application/x-form"} {
		if got := b.read("", "file://{R}/resources/"+name+".md"); !strings.Contains(got,
			`"mimeType":"`+want+`","text":"`+name[len(name)-1:]) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// reveal is a provider that prints the template variables, and "-" for unset ones.
const reveal = `printf '%s|%s' "${MCP_RESOURCE_TEMPLATE_NAME--}" "${MCP_RESOURCE_TEMPLATE_VARS--}"`

// RES-170, RES-174, RES-176: the provider gets the template and its values for a URI without an
// entry, and in no other case. Variables of the host never reach it (RES-175).
func TestTemplateValues(t *testing.T) {
	entries := []string{
		`{"name":"exact","uri":"shop://items/1","provider":"shop"}`,
		`{"name":"other","uri":"x://items/2","provider":"shop"}`,
	}
	for _, mode := range []string{"isolate", "allowlist", "inherit"} {
		b := open(t, map[string]string{
			"providers/shop.sh": reveal, "providers/file.sh": reveal, "providers/form.sh": reveal, "providers/echo.sh": reveal,
		}, entries, project.Env{
			"MCPBASH_PROVIDER_ENV_MODE": mode, "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW": "true",
			"MCPBASH_PROVIDER_ENV_ALLOWLIST": "MCP_RESOURCE_TEMPLATE_NAME,MCP_RESOURCE_TEMPLATE_VARS",
			"MCP_RESOURCE_TEMPLATE_NAME":     "stale", "MCP_RESOURCE_TEMPLATE_VARS": "{}",
		})
		b.templates = []urimatch.Template{
			{Name: "item", Text: "shop://items/{id}"}, {Name: "rest", Text: "shop://{kind}/{id}/{+rest}"},
			{Name: "files", Text: "file:///{+path}"}, {Name: "form", Text: "form://x{?q}"},
			{Name: "loud", Text: "echo://{words}"}, {Name: "with \"quotes\"", Text: "shop://q/{a}/{b}#"},
		}
		for _, tc := range []struct{ name, uri, want string }{
			{"", "shop://items/42", `item|{"id":"42"}`},
			{"", "shop://items/a%20b&\"<é>\\", `item|{"id":"a%20b&\"<é>\\"}`},
			{"", "shop://items/42/a/b%2Fc", `rest|{"kind":"items","id":"42","rest":"a/b%2Fc"}`},
			{"", "shop://q/2/1#", `with "quotes"|{"a":"2","b":"1"}`},
			{"", "shop://none", "-|-"}, {"", "shop://items/ 4", "-|-"},
			{"", "shop://items/1", "-|-"}, {"exact", "", "-|-"}, {"other", "", "-|-"}, {"other", "x://items/2", "-|-"},
			{"", "file:///etc/x", `files|{"path":"etc/x"}`}, {"", "form://x?q=1", "-|-"},
			{"", "echo://hello", `loud|{"words":"hello"}`},
		} {
			c, err := b.Read(t.Context(), Request{Name: tc.name, URI: tc.uri})
			if err != nil {
				t.Errorf("%s %q %q: %v", mode, tc.name, tc.uri, err)
			} else if string(c.data) != tc.want {
				t.Errorf("%s %q %q: %s, want %s", mode, tc.name, tc.uri, c.data, tc.want)
			}
		}
		if data, err := b.Fetch(t.Context(), "shop", "shop://items/7"); err != nil || string(data) != `item|{"id":"7"}` {
			t.Errorf("%s, %v", data, err) // RES-2
		}
	}
}

// RES-32a: clients reach a provider script only by a scheme that the project declares. Case matters.
func TestDeclaredSchemes(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"shop", "store", "Loud", "echo", "git", "https", "ui", "file", "hidden"} {
		files["providers/"+name+".sh"] = "printf ran"
	}
	entries := []string{
		`{"name":"bound","uri":"store://one","provider":"store"}`,
		`{"name":"lent","uri":"hidden://one","provider":"store"}`,
		`{"name":"inferred","uri":"Loud://one"}`,
	}
	b := open(t, files, entries, nil)
	var items []item.Item
	for _, e := range entries {
		items = append(items, item.Item{JSON: json.RawMessage(e)})
	}
	b.Bound = func(_ context.Context, scheme string) (bool, error) { return Bound(b.Project, items)[scheme], nil }
	b.templates = nil
	reads := func(uri string) bool {
		got := b.read("", uri)
		ran := strings.Contains(got, `"text":"ran"`)
		if !ran && got != `-32002 Resource not found {"uri":"`+uri+`"}` {
			t.Errorf("%s: %s", uri, got)
		}
		return ran
	}
	for uri, want := range map[string]bool{
		"shop://x": false, "store://two": true, "STORE://two": false, "hidden://one": true, "hidden://two": false,
		"Loud://one": true, "Loud://two": false, "loud://two": false, "echo://x": false, "git://x": false,
		// Scripts that replace built-in providers.
		"git+https://x/y#z": true, "https://x": true, "HTTPS://x": true, "ui://x/y": true, "file:///x": true,
	} {
		if got := reads(uri); got != want {
			t.Errorf("%s is read: %v", uri, got)
		}
	}
	b.templates = []urimatch.Template{{Text: "shop://{id}"}, {Text: "echo://{?words}"}, {Text: "git://{a}{b}"},
		{Text: "{s}://x"}, {Text: "Hidden://{x}"}}
	for uri, want := range map[string]bool{
		"shop://x": true, "Shop://x": false, "echo://x": true, "git://x": true, "hidden://two": false, "s://x": false,
		"Hidden://two": false, // the script does not exist
	} {
		if got := reads(uri); got != want {
			t.Errorf("%s is read: %v", uri, got)
		}
	}
	// If the templates cannot be loaded, no script runs and the error explains it. Files are still read.
	broken := mcp.Errorf(mcp.CodeInternal, "Unable to load resource templates registry")
	b.Templates = func(context.Context) (*urimatch.Set, error) { return nil, broken }
	for _, uri := range []string{"shop://x", "store://two", "https://x"} {
		if _, err := b.Read(t.Context(), Request{URI: uri}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	plain := open(t, map[string]string{"resources/a.txt": "a"}, nil, nil)
	plain.Templates = b.Templates
	if got := plain.read("", "file://{R}/resources/a.txt"); !strings.Contains(got, `"text":"a"`) {
		t.Error(got)
	}
}

// RES-31, RES-144: a watch keeps its URI when another resource gets the name.
func TestWatchKeepsURI(t *testing.T) {
	b := open(t, map[string]string{"resources/a.txt": "a", "resources/b.txt": "b"}, nil, nil)
	uri := b.fill("file://{R}/resources/a.txt")
	b.FindName = func(context.Context, string) (json.RawMessage, error) {
		return json.RawMessage(`{"name":"x","uri":"` + uri + `","provider":"file"}`), nil
	}
	w, err := b.Watch(t.Context(), Request{Name: "x"})
	if err != nil || w.URI() != uri {
		t.Fatal(w, err)
	}
	uri = b.fill("file://{R}/resources/b.txt")
	w.Reconsider()
	if w.Changed(t.Context()) {
		t.Error("the content has not changed")
	}
	b.write("resources/a.txt", "A")
	if !w.Changed(t.Context()) {
		t.Error("the change was not seen")
	}
}
