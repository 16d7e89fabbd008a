package registry

import (
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
)

const staticNotice = "info mcp.tools: Static registry mode active - new tools/resources won't be discovered until " +
	"restart or MCPBASH_STATIC_REGISTRY=0"

// static mode uses the registry file.
func TestStaticMode(t *testing.T) {
	env := project.Env{"MCPBASH_STATIC_REGISTRY": "1"}
	b := newBed(t, env, files{"tools/a/tool.sh": "", ".registry/tools.json": `{"format_version":1,"hash":"theirs",` +
		`"items":[{ "name": "old", "x": [1.0] },{"no":"name"}]}`})
	list := b.tools()
	want(t, list.Hash, "theirs")
	want(t, string(list.Items[0].JSON), `{"name":"old","x":[1.0]}`)
	if _, ok := list.Find(""); ok || len(list.Items) != 2 {
		t.Error("an item without name was found")
	}
	b.Put(files{".registry/tools.json": `{}`, "tools/b/tool.sh": ""})
	b.Advance(time.Hour)
	if b.tools() != list {
		t.Error("looked again")
	}
	if changed := b.Changes(t.Context(), Poll{}); changed != nil {
		t.Error("reported a change")
	}
	b.WantLog(staticNotice)
	// Only the value 1 enables static mode.
	b.reopen(project.Env{"MCPBASH_STATIC_REGISTRY": "true"}, Options{})
	want(t, b.names(), "a b")
}

// a missing or invalid file.
func TestStaticModeWithoutFile(t *testing.T) {
	env := project.Env{"MCPBASH_STATIC_REGISTRY": "1"}
	b := newBed(t, env, files{"tools/a/tool.sh": ""})
	want(t, b.names(), "a")
	b.WantLog("debug mcp.tools: Static registry: tools.json: missing; discovering")
	b.Put(files{".registry/tools.json": "["})
	b.reopen(env, Options{})
	want(t, b.names(), "a")
	b.WantLog("debug mcp.tools: Static registry: tools.json: line 1, column 2: unexpected end; discovering")
	// The file that was written is used from now on.
	b.Put(files{"tools/b/tool.sh": ""})
	b.Advance(time.Hour)
	want(t, b.names(), "a")
	b.WantLog(staticNotice)
}

// a refresh ignores static mode.
func TestRefreshInStaticMode(t *testing.T) {
	b := newBed(t, project.Env{"MCPBASH_STATIC_REGISTRY": "1"}, files{"tools/a/tool.sh": "",
		".registry/tools.json": `{"format_version":1,"hash":"h","items":[]}`})
	if r := b.refresh(""); r.Kinds[0].Count != 1 {
		t.Errorf("%s", r.AppendJSON(nil))
	}
}

// register.json has precedence, and register.sh never runs.
func TestStaticModeAndHandwrittenLists(t *testing.T) {
	env := project.Env{"MCPBASH_STATIC_REGISTRY": "1", "MCPBASH_ALLOW_PROJECT_HOOKS": "true"}
	b := newBed(t, env, files{"tools/a/tool.sh": "", "server.d/register.sh*": "touch ran"})
	b.reopen(env, b.hooks())
	want(t, b.names(), "a")
	b.Put(files{"server.d/register.json": `{"version":1,"prompts":[]}`})
	b.reopen(env, b.hooks())
	want(t, b.names(), "a")
	b.Put(files{"server.d/register.json": `{"version":1,"tools":[{"name":"m","path":"m.sh"}]}`})
	b.reopen(env, b.hooks())
	want(t, b.names(), "m")
	b.Put(files{"server.d/register.json": `{"version":1,"exclude":["a"]}`})
	b.reopen(env, b.hooks())
	want(t, b.names(), "")
	if folder.StampOfPath(b.Path("ran")).Exists() {
		t.Error("register.sh ran")
	}
}
