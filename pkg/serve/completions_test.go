//go:build unix

package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// numbers suggests n0 to n6, in pages.
const numbers = `end=$((MCP_COMPLETION_OFFSET + MCP_COMPLETION_LIMIT)); more=true; [ $end -lt 7 ] || { end=7; more=false; }
list=; for ((i = MCP_COMPLETION_OFFSET; i < end; i++)); do list+="\"n$i\","; done
echo "{\"suggestions\":[${list%,}],\"hasMore\":$more,\"next\":$end,\"total\":7}"`

func completing(ref, rest string) string {
	return `{"ref":` + ref + `,"argument":{"name":"a","value":"re"}` + rest + `}`
}

func ofPrompt(name string) string  { return `{"type":"ref/prompt","name":"` + name + `"}` }
func ofResource(uri string) string { return `{"type":"ref/resource","uri":"` + uri + `"}` }

// T-601 to T-615, R-81 to R-84, in each revision.
func TestCompletion(t *testing.T) {
	project := map[string]string{
		"server.d/register.json": `{"version":1,"completions":[{"name":"number","path":"completions/numbers.sh",` +
			`"timeoutSecs":5},{"name":"logs","path":"completions/numbers.sh"}]}`,
		"completions/numbers.sh":           numbers,
		"prompts/greet.txt":                "Hello",
		"prompts/greet.txt.completion.sh":  `printf '["%s"]' "$MCP_PROMPT_REL_PATH"`,
		"resources/note.md":                "note",
		"resources/note.meta.json":         `{"name":"note","uri":"x://note","provider":"file"}`,
		"resources/note.completion.sh":     `printf '["%s %s"]' "$MCP_RESOURCE_URI" "$MCP_RESOURCE_PROVIDER"`,
		"resources/auto.md":                "auto",
		"resources/auto.md.completion.sh":  `printf '["%s"]' "$MCP_RESOURCE_URI"`,
		"resources/logs/logs.meta.json":    `{"name":"logs","uriTemplate":"file:///var/log/{day}.log"}`,
		"resources/other/others.meta.json": `{"name":"others","uriTemplate":"file:///etc/{name}"}`,
		"resources/shop/item.meta.json":    `{"name":"item","uriTemplate":"shop://{kind}/{id}"}`,
		"resources/item/item.completion.sh": `printf '["%s of %s for %s"]' "$MCP_COMPLETION_NAME" "$MCP_RESOURCE_URI" ` +
			`"$(sed 's/.*"argument":{"name":"\([a-z]*\)".*/\1/' <<<"$MCP_COMPLETION_ARGS_JSON")"`,
		"resources/special.meta.json":      `{"name":"special","uriTemplate":"shop://special/{id}"}`,
		"resources/form.meta.json":         `{"name":"form","uriTemplate":"form://x{?q}"}`,
		"resources/form.completion.sh":     `echo '["form"]'`,
		"resources/failing.md":             "x",
		"resources/failing.md.meta.json":   `{"uri":"x://failing","provider":"file"}`,
		"resources/failing.completion.sh":  `echo "No database here" >&2; exit 1`,
		"resources/failing2.md":            "x",
		"resources/failing2.md.meta.json":  `{"uri":"x://garbage","provider":"file"}`,
		"resources/failing2.completion.sh": `echo '{"suggestions":7}'`,
	}
	root := files(t, project)
	values := func(list string) string { return `"result":{"completion":{"values":[` + list + `]` }
	for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		c := start(t, root, nil)
		c.handshake(revision, "{}")
		for _, tc := range []struct{ params, want string }{
			{``, `"error":{"code":-32602,"message":"Completion ref is required"}`},
			{`{"ref":{"name":"x"}}`, `"error":{"code":-32602,"message":"Completion ref is required"}`},
			{`{"ref":{"type":"ref/tool","name":"x"}}`, `"error":{"code":-32602,"message":"Completion ref is invalid"}`},
			{`{"ref":{"type":"ref/prompt"}}`, `"error":{"code":-32602,"message":"Completion ref is invalid"}`},
			{`{"ref":` + ofPrompt("x") + `}`,
				`"error":{"code":-32602,"message":"Completion argument name is required"}`},
			{completing(ofPrompt("x"), `,"cursor":"?"`), `"error":{"code":-32602,"message":"Invalid cursor"}`},
			{completing(ofPrompt("x"), ``), values(``) + `,"hasMore":false}}`},
			{completing(ofPrompt("number"), `,"context":{"arguments":{"x":"y"}}`),
				values(`"n0","n1","n2","n3","n4","n5","n6"`) + `,"total":7,"hasMore":false}}`},
			{completing(ofPrompt("greet"), ``), values(`"greet.txt"`) + `,"total":1,"hasMore":false}}`},
			{completing(ofResource("x://note"), ``), values(`"x://note file"`) + `,"total":1,"hasMore":false}}`},
			{completing(ofResource("file://"+root+"/resources/auto.md"), ``),
				values(`"file://`+root+`/resources/auto.md"`) + `,"total":1,"hasMore":false}}`},
			{completing(ofResource("file:///var/log/{day}.log"), `,"limit":"1"`),
				values(`"n0"`) + `,"total":7,"hasMore":true,"nextCursor":"`},
			{completing(ofResource("file:///etc/{name}"), `,"limit":9`),
				values(``) + `,"hasMore":false}}`},
			// The text of a template, and URIs that match it. The most specific template has no script.
			{completing(ofResource("shop://{kind}/{id}"), ``),
				values(`"item of shop://{kind}/{id} for a"`) + `,"total":1,"hasMore":false}}`},
			{completing(ofResource("shop://items/4"), ``),
				values(`"item of shop://{kind}/{id} for a"`) + `,"total":1,"hasMore":false}}`},
			{completing(ofResource("shop://special/4"), ``), values(``) + `,"hasMore":false}}`},
			{completing(ofResource("shop://a/b/c"), ``), values(``) + `,"hasMore":false}}`},
			{completing(ofResource("form://x{?q}"), ``), values(`"form"`) + `,"total":1,"hasMore":false}}`},
			{completing(ofResource("form://x?q=1"), ``), values(``) + `,"hasMore":false}}`},
			{completing(ofResource("file:///var/log/1.log"), `,"limit":"7"`),
				values(`"n0","n1","n2","n3","n4","n5","n6"`) + `,"total":7,"hasMore":false}}`},
			{completing(ofResource("x://failing"), ``), `"error":{"code":-32603,"message":"No database here"}`},
			{completing(ofResource("x://garbage"), ``),
				`"error":{"code":-32603,"message":"Completion provider emitted invalid JSON"}`},
		} {
			if got := c.request("completion/complete", tc.params); got != tc.want &&
				!(strings.HasSuffix(tc.want, `"nextCursor":"`) && strings.HasPrefix(got, tc.want)) {
				t.Errorf("%s %s:\n got %s\nwant %s", revision, tc.params, got, tc.want)
			}
		}
	}
}

// T-631 to T-634.
func TestCompletionPages(t *testing.T) {
	list := map[string]string{
		"server.d/register.json":  `{"version":1,"completions":[{"name":"number","path":"completions/numbers.sh"}]}`,
		"completions/numbers.sh":  numbers,
		"completions/numbers2.sh": numbers,
	}
	c := ready(t, list, project.Env{"MCPBASH_REGISTER_TTL": "1"})
	var all []string
	cursor, first := "", ""
	for range 5 {
		got := c.request("completion/complete", completing(ofPrompt("number"), `,"limit":3`+cursor))
		page := rawjson.Path(json.RawMessage("{"+got+"}"), "result", "completion")
		for v := range rawjson.Elements(rawjson.Get(page, "values")) {
			all = append(all, string(v))
		}
		next := rawjson.Get(page, "nextCursor")
		if next == nil {
			break
		}
		cursor = `,"cursor":` + string(next)
		if first == "" {
			first = cursor
		}
	}
	if got := strings.Join(all, ""); got != `"n0""n1""n2""n3""n4""n5""n6"` {
		t.Error(got)
	}
	if got := c.request("completion/complete", completing(ofPrompt("other"),
		first)); got != `"error":{"code":-32602,"message":"Invalid cursor"}` {
		t.Error(got)
	}
	os.WriteFile(filepath.Join(c.root, "server.d", "register.json"),
		[]byte(strings.Replace(list["server.d/register.json"], "numbers.sh", "numbers2.sh", 1)), 0o644)
	eventually(t, "the new registration", func() bool {
		return c.request("completion/complete", completing(ofPrompt("number"),
			first)) == `"error":{"code":-32602,"message":"Cursor no longer valid"}`
	})
}

// T-614, R-143, R-82: a bad completion is as if it were not there, and a list that is
// not an array is an error.
func TestBadCompletions(t *testing.T) {
	for _, entry := range []string{`{"name":" ","path":"a.sh"}`, `{"name":"x","path":"gone.sh"}`,
		`{"name":"x","path":"../x.sh"}`, `7`} {
		c := ready(t, map[string]string{"server.d/register.json": `{"version":1,"completions":[` + entry +
			`,{"name":"y","path":"a.sh"}]}`, "a.sh": `echo '["own"]'`}, nil)
		if got := c.request("completion/complete", completing(ofPrompt("x"), "")); !strings.Contains(got,
			`"values":[]`) {
			t.Errorf("%s: %s", entry, got)
		}
		if got := c.request("completion/complete", completing(ofPrompt("y"), "")); !strings.Contains(got,
			`"values":["own"]`) {
			t.Errorf("%s: %s", entry, got)
		}
	}
	c := ready(t, map[string]string{"server.d/register.json": `{"version":1,"completions":7}`}, nil)
	got := c.request("completion/complete", completing(ofPrompt("x"), ""))
	if !strings.HasPrefix(got, `"error":{"code":-32601,"message":"Completion not found","data":{"reason":"`) ||
		!strings.Contains(got, "register.json completions must be an array or null") {
		t.Error(got)
	}
}

// T-623, T-708, T-710, P-1600, P-1703: scripts that do not end.
func TestCompletionTimes(t *testing.T) {
	where := t.TempDir()
	pid, started := mark(t, where, "pid")
	child := filepath.Join(where, "child")
	hang := `sleep 600 & echo $! > "` + child + `"; echo $$ > "` + pid + `.new"; mv "` + pid + `.new" "` + pid +
		`"; wait; sleep 600`
	c := ready(t, map[string]string{
		"server.d/register.json": `{"version":1,"completions":[{"name":"hangs","path":"hang.sh"},{"name":"limited",` +
			`"path":"hang.sh","timeoutSecs":1}]}`,
		"hang.sh": hang,
	}, nil)
	gone := func() {
		t.Helper()
		started()
		eventually(t, "the script and its child to end", func() bool { return !alive(pid) && !alive(child) })
		os.Remove(pid)
	}
	if got := c.request("completion/complete", completing(ofPrompt("limited"),
		"")); got != `"error":{"code":-32603,"message":"Completion provider timed out after 1s"}` {
		t.Error(got)
	}
	gone()
	if got := c.request("completion/complete", completing(ofPrompt("hangs"),
		`,"timeoutSecs":1`)); got != `"error":{"code":-32603,"message":"Request timed out","data":{"timeoutSecs":1}}` {
		t.Error(got)
	}
	gone()
	c.send(message(`"late"`, "completion/complete", completing(ofPrompt("hangs"), "")))
	started()
	c.send(message("", "notifications/cancelled", `{"requestId":"late"}`))
	gone()
	c.send(message(`"last"`, "completion/complete", completing(ofPrompt("hangs"), "")))
	started()
	c.hangup() // with a client that is gone, so is the script
	gone()
	c.exit()
	c.quiet()
}
