//go:build unix

package completion

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// T-612a, T-622, R-83a: the script with the name of a template completes its variables, even if a prompt or resource
// has the same name.
func TestTemplateVariables(t *testing.T) {
	b := newFixture(t, nil)
	entry := func(name string) string { return `{"name":"` + name + `","uriTemplate":"shop://{kind}/{id}"}` }
	ask := func(uri string) string {
		r := &Request{Ref: json.RawMessage(`{"type":"ref/resource","uri":"` + uri + `"}`),
			Argument: json.RawMessage(`{"name":"id","value":"4"}`)}
		return b.answer(b.completions.Complete(context.Background(), r))
	}
	expect := func(uri, want string) {
		t.Helper()
		if got := ask(uri); !strings.Contains(got, `"values":`+want) {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	says := func(what string) string { return "#!/bin/bash\necho '[\"" + what + "\"]'\n" }
	values := func(what string) string { return `["` + what + `"]` }
	const uri, nothing = "shop://items/4", `[]`
	b.names[uri] = entry("item")
	b.file("prompts/item.txt.completion.sh", says("a prompt"))
	b.prompts["item"] = `{"name":"item","path":"item.txt"}`
	b.file("resources/elsewhere.completion.sh", says("another template"))
	expect(uri, nothing)
	b.file("resources/item.completion.sh", "echo not executable")
	expect(uri, nothing)
	for _, step := range []string{"resources/item/item.completion", "resources/item/item.completion.sh",
		"resources/item.completion", "resources/item.completion.sh"} {
		b.file(step, says(step))
		os.Chmod(filepath.Join(b.root, step), 0o755)
		expect(uri, values(step))
	}
	b.file("resources/item.completion.sh", `#!/bin/bash
printf '["%s","%s","%s","%s"]' "$MCP_COMPLETION_NAME" "$MCP_RESOURCE_URI" "$MCP_RESOURCE_PROVIDER" "${MCP_RESOURCE_PATH-unset}"
`)
	expect(uri, `["item","shop://{kind}/{id}","shop","unset"]`)
	b.file("resources/item.completion.sh", `#!/bin/bash
[ "$MCP_RESOURCE_METADATA" = '`+entry("item")+`' ] && [[ $MCP_COMPLETION_ARGS_JSON == *'"argument":{"name":"id","value":"4"}'* ]] &&
	[ -z "${MCP_RESOURCE_TEMPLATE_NAME+set}" ] && echo '["yes"]'
`)
	expect(uri, `["yes"]`)
	b.manual["item"] = `{"name":"item","path":"resources/elsewhere.completion.sh","kind":"shell"}`
	expect(uri, `["another template"]`)
	// A name that is not a file name finds no script.
	b.names["shop://x"] = entry("../item")
	b.file("item.completion.sh", says("outside"))
	expect("shop://x", nothing)
	// The permission checks for scripts apply (T-620).
	b.names["shop://y"] = entry("open")
	os.Chmod(b.file("resources/open.completion.sh", says("open")), 0o777)
	if got := ask("shop://y"); !strings.Contains(got, "Completion script rejected by policy") {
		t.Error(got)
	}
}
