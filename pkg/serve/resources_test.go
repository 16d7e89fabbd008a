//go:build unix

package serve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// library is a project with resources of every sort.
var library = map[string]string{
	"resources/alpha.txt": "alpha\n",
	"resources/alpha.txt.meta.json": `{"name":"file.alpha","description":"Alpha","annotations":{"audience":["user"],` +
		`"priority":0.8}}`,
	"resources/my notes.md":     "# notes\n",
	"resources/hello.meta.json": `{"name":"echo.hello","uri":"echo://Hello-from-manual-registry"}`,
	"resources/status.meta.json": `{"name":"api-status","uri":"myapi://status","mimeType":"application/json",` +
		`"provider":"myapi"}`,
	"resources/logs.meta.json": `{"name":"logs-by-date","uriTemplate":"file:///var/log/{service}/{date}.log",` +
		`"title":"Log Files by Date","own":1}`,
	"resources/dirs.meta.json": `{"name":"dirs","uriTemplate":"file://${x}/{+path*}{?q}"}`,
	"resources/bad1.meta.json": `{"name":"no-variable","uriTemplate":"file:///x"}`,
	"resources/bad2.meta.json": `{"name":"empty","uriTemplate":"file:///{}/{   }"}`,
	"resources/bad3.meta.json": `{"name":"unbalanced","uriTemplate":"file:///{a}/{b"}`,
	"resources/bad4.meta.json": `{"name":"both","uriTemplate":"x://{a}","uri":"x://y"}`,
	"resources/bad5.meta.json": `{"uriTemplate":"x://{nameless}"}`,
	"resources/bad6.meta.json": `{"name":"broken","uriTemplate":`,
	"resources/bad7.meta.json": `{"name":7,"uriTemplate":["x://{a}"]}`,
	"resources/bad8.meta.json": `[]`,
	"resources/bad9.meta.json": `{"name":"odd","uri":"echo://odd","mimeType":5,"annotations":[],"size":-1,"icons":"x",` +
		`"_meta":3}`,
	"resources/clash.meta.json": `{"name":"file.alpha","uriTemplate":"x://{clash}"}`,
	"providers/myapi.sh":        `[ "$1" = myapi://status ] || exit 3; printf '{"status":"ok"}'`,
}

// RES-20, RES-21, RES-161, RES-163; P-2000 to P-2003.
func TestResourceLists(t *testing.T) {
	c := ready(t, library, project.Env{"MCP_RESOURCES_TTL": "0", "MCP_RESOURCES_TEMPLATES_TTL": "0"})
	alpha := `{"name":"file.alpha","description":"Alpha","path":"alpha.txt","uri":"file://` + c.root +
		`/resources/alpha.txt","mimeType":"text/plain","provider":"file","annotations":{"audience":["user"],"priority":0.8}}`
	notes := `{"name":"my notes","description":"","path":"my notes.md","uri":"file://` + c.root +
		`/resources/my%20notes.md","mimeType":"text/markdown","provider":"file"}`
	hello := `{"name":"echo.hello","description":"","uri":"echo://Hello-from-manual-registry","mimeType":"text/plain",` +
		`"provider":"echo"}`
	status := `{"name":"api-status","description":"","uri":"myapi://status","mimeType":"application/json",` +
		`"provider":"myapi"}`
	odd := `{"name":"odd","description":"","uri":"echo://odd","mimeType":"text/plain","provider":"echo"}`
	if got, want := c.request("resources/list", ""), `"result":{"resources":[`+strings.Join([]string{status, hello,
		alpha, notes, odd}, ",")+`],"_meta":{"mcpbash/total":5}}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	templates := []string{`{"name":"dirs","uriTemplate":"file://${x}/{+path*}{?q}"}`,
		`{"name":"logs-by-date","uriTemplate":"file:///var/log/{service}/{date}.log","title":"Log Files by Date"}`}
	if got, want := c.request("resources/templates/list", "{}"),
		`"result":{"resourceTemplates":[`+strings.Join(templates, ",")+`],"_meta":{"mcpbash/total":2}}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for method, member := range map[string]string{"resources/list": "resources",
		"resources/templates/list": "resourceTemplates"} {
		first := json.RawMessage("{" + c.request(method, `{"limit":1}`) + "}")
		cursor := rawjson.TextOf(rawjson.Get(first, "result"), "nextCursor")
		if second := c.request(method, `{"limit":"1","cursor":"`+cursor+`"}`); !strings.HasPrefix(second,
			`"result":{"`+member+`":[{"name":`) || second == string(first) {
			t.Error(second)
		}
		for _, bad := range []string{`"x"`, `5`, `"` + cursor[:8] + `"`} {
			if got := c.request(method,
				`{"cursor":`+bad+`}`); got != `"error":{"code":-32602,"message":"Invalid cursor"}` { // P-2003
				t.Error(got)
			}
		}
		os.WriteFile(filepath.Join(c.root, "resources", "new-"+member+".meta.json"), []byte(map[string]string{
			"resources":         `{"name":"new","uri":"echo://new"}`,
			"resourceTemplates": `{"name":"newer","uriTemplate":"x://{y}"}`}[member]), 0o644)
		if got := c.request(method,
			`{"cursor":"`+cursor+`"}`); got != `"error":{"code":-32602,"message":"Invalid cursor"}` {
			t.Error("a list that has changed:", got)
		}
	}
	empty := ready(t, nil, nil)
	if got := empty.request("resources/list", ""); got != `"result":{"resources":[],"_meta":{"mcpbash/total":0}}` {
		t.Error(got)
	}
	if got := empty.request("resources/templates/list",
		""); got != `"result":{"resourceTemplates":[],"_meta":{"mcpbash/total":0}}` {
		t.Error(got)
	}
}

// Every resource that is listed can be read by the URI and by the name it is
// listed with (RES-31, RES-81).
func TestListedIsReadable(t *testing.T) {
	list := map[string]string{}
	for _, name := range []string{"a b.txt", "100%.txt", "%41.txt", "ü.txt", "q?.txt", "h#1.txt", "[x].txt",
		"a&b=c.txt", "'quote\".txt", "back\\slash.txt", "plus+.txt", "~tilde", "C:", "{brace}.txt",
		"${MCPBASH_PROJECT_ROOT}.txt"} {
		list["resources/deep dir/"+name] = "content of " + name
	}
	c := ready(t, list, nil)
	var result struct {
		Resources []struct{ Name, URI, Path string }
	}
	response := c.request("resources/list", "")
	if err := json.Unmarshal([]byte(strings.TrimPrefix(response, `"result":`)), &result); err != nil ||
		len(result.Resources) != len(list) {
		t.Fatal(response)
	}
	for _, r := range result.Resources {
		want := list["resources/"+r.Path]
		for _, params := range []string{`{"uri":%s}`, `{"name":%s}`} {
			key := rawjson.Quote(r.URI)
			if strings.Contains(params, "name") {
				key = rawjson.Quote(r.Name)
			}
			got := c.request("resources/read", fmt.Sprintf(params, key))
			if !strings.HasPrefix(got, `"result":{"contents":[{"uri":`+string(rawjson.Quote(r.URI))) ||
				!strings.Contains(got, string(rawjson.Quote(want))) {
				t.Errorf("%s: %s", r.URI, got)
			}
		}
		if u, err := url.Parse(r.URI); err != nil || u.Path != c.root+"/resources/"+r.Path {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
}

// RES-5, RES-30 to RES-36, RES-74.
func TestResourceRead(t *testing.T) {
	c := ready(t, library, nil)
	uri := "file://" + c.root + "/resources/alpha.txt"
	alpha := `"result":{"contents":[{"uri":"` + uri + `","mimeType":"text/plain","text":"alpha\n"}]}`
	const neither = `"error":{"code":-32602,"message":"Resource name or uri required"}`
	for params, want := range map[string]string{
		`{"uri":"` + uri + `"}`:            alpha,
		`{"name":"file.alpha"}`:            alpha,
		`{"name":"file.alpha","uri":null}`: alpha,
		`{"name":"api-status"}`: `"result":{"contents":[{"uri":"myapi://status","mimeType":"application/json",` +
			`"text":"{\"status\":\"ok\"}"}]}`,
		`{"uri":"myapi://other"}`: `"error":{"code":-32002,"message":"Resource not found",` +
			`"data":{"uri":"myapi://other"}}`,
		`{"uri":"file:///etc/passwd"}`: `"error":{"code":-32603,"message":"Resource outside allowed roots"}`,
		`{"uri":"file://` + c.root +
			`/resources/none.txt"}`: `"error":{"code":-32002,"message":"Resource not found","data":{"uri":"file://` +
			c.root + `/resources/none.txt"}}`,
		`{}`: neither, ``: neither, `{"uri":5}`: neither, `{"name":["x"]}`: neither, `{"uri":"","name":null}`: neither,
		`{"uri":null}`: neither, `{"uri":{},"name":"file.alpha"}`: neither,
	} {
		if got := c.request("resources/read", params); got != want {
			t.Errorf("%s:\n got %s\nwant %s", params, got, want)
		}
	}
	if got := c.request("resources/nonsense",
		""); got != `"error":{"code":-32601,"message":"Unknown resources method"}` {
		t.Error(got)
	}
	minimal := ready(t, library, project.Env{"MCPBASH_FORCE_MINIMAL": "true"})
	for _, method := range []string{"resources/read", "resources/list", "resources/subscribe", "resources/nonsense",
		"resources/templates/list"} {
		if got := minimal.request(method,
			`{"uri":"`+uri+`"}`); got != `"error":{"code":-32601,"message":"Resources capability unavailable in minimal mode"}` {
			t.Error(got)
		}
	}
}

// A blob within the limit of resources is delivered whatever the limit of
// responses; text that grows beyond it is not (RES-46, RES-47).
func TestResourceLimits(t *testing.T) {
	c := ready(t, map[string]string{
		"resources/blob.bin": strings.Repeat("\xff", 200000), "resources/long.txt": strings.Repeat("x", 200001),
		"resources/grows.txt": strings.Repeat("\x01", 200000),
	}, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000", "MCPBASH_MAX_RESOURCE_BYTES": "200000"})
	read := func(name string) string { return c.request("resources/read", `{"name":"`+name+`"}`) }
	if got := read("blob"); !strings.HasPrefix(got, `"result":`) || len(got) < 266668 {
		t.Error(len(got))
	}
	if got := read("long"); got != `"error":{"code":-32603,"message":"Resource content exceeds 200000 bytes"}` {
		t.Error(got)
	}
	if got := read("grows"); got != `"error":{"code":-32603,"message":"Response exceeded response size limit"}` {
		t.Error(got)
	}
}

// RES-4, RES-73; P-1703.
func TestResourceTimeAndCancel(t *testing.T) {
	c := ready(t, map[string]string{"resources/slow.meta.json": `{"name":"slow","uriTemplate":"slow://{x}"}`,
		"providers/slow.sh": `echo $$ > "$MCPBASH_PROJECT_ROOT/pid"; mv ` +
			`"$MCPBASH_PROJECT_ROOT/pid" "$MCPBASH_PROJECT_ROOT/started"; sleep 1000`}, nil)
	began := time.Now()
	if got := c.request("resources/read",
		`{"uri":"slow://x","timeoutSecs":1}`); got != `"error":{"code":-32603,"message":"Request timed out",`+
		`"data":{"timeoutSecs":1}}` {
		t.Error(got)
	}
	os.Remove(filepath.Join(c.root, "started"))
	_, started := mark(t, c.root, "started")
	c.send(message(`"slow"`, "resources/read", `{"uri":"slow://x"}`))
	started()
	pid, _ := os.ReadFile(filepath.Join(c.root, "started"))
	c.send(message("", "notifications/cancelled", `{"requestId":"slow"}`))
	eventually(t, "the script to end", func() bool {
		_, err := os.Stat("/proc/" + strings.TrimSpace(string(pid)))
		return err != nil
	})
	c.request("ping", "")
	c.end()
	c.quiet()
	if time.Since(began) > patience {
		t.Error("it took too long")
	}
}

// RES-91: the client's roots are readable only if the operator allows that, and not if
// MCP_RESOURCES_ROOTS is set.
func TestResourceRoots(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(outside, "x.txt"), []byte("outside"), 0o644)
	const refused = `"error":{"code":-32603,"message":"Resource outside allowed roots"}`
	for _, tc := range []struct {
		env   project.Env
		reads bool
	}{
		{nil, false},
		{project.Env{"MCPBASH_RESOURCES_USE_ROOTS": "true"}, true},
		{project.Env{"MCPBASH_RESOURCES_USE_ROOTS": "yes"}, false},
		{project.Env{"MCPBASH_RESOURCES_USE_ROOTS": "true", "MCP_RESOURCES_ROOTS": "resources"}, false},
		{project.Env{"MCP_RESOURCES_ROOTS": "resources:" + outside}, true},
	} {
		c := start(t, files(t, library), tc.env)
		c.handshake("2025-11-25", `{"roots":{}}`)
		ask := c.await("roots/list", func(line string) bool { return strings.Contains(line, `"roots/list"`) })
		c.send(`{"jsonrpc":"2.0","id":` + string(rawjson.Get(json.RawMessage(ask), "id")) +
			`,"result":{"roots":[{"uri":"file://` + outside + `"}]}}`)
		got := c.request("resources/read", `{"uri":"file://`+outside+`/x.txt"}`)
		if tc.reads && !strings.Contains(got, `"text":"outside"`) || !tc.reads && got != refused {
			t.Errorf("%v: %s", tc.env, got)
		}
		if got := c.request("resources/read", `{"name":"file.alpha"}`); !strings.Contains(got, `"text":"alpha\n"`) {
			t.Errorf("%v: %s", tc.env, got)
		}
	}
}
