package registry

import (
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// changed returns the keys of the kinds that have changed.
func (b *bed) changed(p Poll) string {
	b.T.Helper()
	var keys []string
	for _, k := range b.Changes(b.T.Context(), p) {
		keys = append(keys, k.Key)
	}
	return strings.Join(keys, " ")
}

// R-115, P-1901, P-1902: the kinds that Changes returns.
func TestChanges(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{}), allKinds) // no file: everything is new
	want(t, b.changed(Poll{}), "")
	b.reopen(nil, Options{})
	want(t, b.changed(Poll{}), "") // the files of an earlier process are unchanged
	b.Put(files{"tools/b/tool.sh": ""})
	b.Advance(500 * time.Millisecond)
	want(t, b.changed(Poll{}), "") // at most once a second
	b.Advance(time.Second)
	want(t, b.changed(Poll{}), "") // and not at all within the TTL
	b.Advance(5 * time.Second)
	want(t, b.changed(Poll{}), "tools")
	want(t, b.changed(Poll{}), "")

	// An item that appears and disappears between two checks does not count. Two changes count as one.
	b.Put(files{"tools/c/tool.sh": ""})
	b.Remove("tools/c")
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "")
	b.Put(files{"tools/c/tool.sh": "", "tools/d/tool.sh": ""})
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "tools")

	// A change that a request has already seen is reported, too (P-1904).
	b.Remove("tools/d")
	b.Advance(time.Minute)
	want(t, b.names(), "a b c")
	want(t, b.changed(Poll{}), "tools")

	// A new mtime does not count as a change.
	b.Put(files{"tools/a/tool.sh": "#"})
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "")
}

// with a TTL of 0, each request checks the project, but Changes only once a second.
func TestTTL(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{}), allKinds)
	b.Put(files{"tools/b/tool.sh": ""})
	want(t, b.changed(Poll{}), "")
	want(t, b.names(), "a b")
	b = newBed(t, project.Env{"MCP_TOOLS_TTL": "60"}, files{"tools/a/tool.sh": ""})
	want(t, b.names(), "a")
	b.Put(files{"tools/b/tool.sh": ""})
	b.Advance(59 * time.Second)
	want(t, b.names(), "a")
	b.Advance(2 * time.Second)
	want(t, b.names(), "a b")
	// The first access of a process always checks the project.
	b.Put(files{"tools/c/tool.sh": ""})
	b.reopen(project.Env{"MCP_TOOLS_TTL": "60"}, Options{})
	want(t, b.names(), "a b c")
}

// M-63: with Fresh, a change is reported at once.
func TestFreshChanges(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "60"}, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{Fresh: true}), allKinds)
	b.Put(files{"tools/b/tool.sh": ""})
	want(t, b.changed(Poll{Fresh: true}), "tools")
	want(t, b.changed(Poll{Fresh: true}), "")
}

// while the list is unavailable, nothing has changed. When it is available again, it has changed if its
// content differs.
func TestChangesAcrossFailure(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{Fresh: true}), allKinds)
	b.Put(files{"server.d/register.json": "["})
	want(t, b.changed(Poll{Fresh: true}), "")
	b.Remove("server.d/register.json")
	want(t, b.changed(Poll{Fresh: true}), "")
	b.Put(files{"server.d/register.json": "["})
	want(t, b.changed(Poll{Fresh: true}), "")
	b.Put(files{"server.d/register.json": `{"version":1,"tools":[]}`}) // the declared list has no tools
	want(t, b.changed(Poll{Fresh: true}), "tools")
}

// Only one goroutine checks at a time. The others wait, and use its result.
func TestManyAskers(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	b.reopen(project.Env{"MCP_TOOLS_TTL": "0"}, Options{Now: time.Now})
	first := b.tools()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if list, err := b.List(t.Context(), kinds.Tools); err != nil || list != first {
				t.Error(list, err)
			}
		})
		all.Go(func() { b.Changes(t.Context(), Poll{}) })
		all.Go(func() { b.Changes(t.Context(), Poll{Fresh: true}) })
		all.Go(func() { b.Refresh(t.Context(), RefreshOptions{}) })
		all.Go(func() { first.Find("a") })
	}
	all.Wait()
}
