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

// R-115, P-1901, P-1902.
func TestChanges(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{}), allKinds) // no file: all is new
	want(t, b.changed(Poll{}), "")
	b.reopen(nil, Options{})
	want(t, b.changed(Poll{}), "") // as an earlier process left it
	b.Put(files{"tools/b/tool.sh": ""})
	b.Advance(500 * time.Millisecond)
	want(t, b.changed(Poll{}), "") // at most once a second
	b.Advance(time.Second)
	want(t, b.changed(Poll{}), "") // and in the TTL not at all
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

	// One that a request has seen first is reported all the same (P-1904).
	b.Remove("tools/d")
	b.Advance(time.Minute)
	want(t, b.names(), "a b c")
	want(t, b.changed(Poll{}), "tools")

	// A new mtime does not count as a change.
	b.Put(files{"tools/a/tool.sh": "#"})
	b.Advance(time.Minute)
	want(t, b.changed(Poll{}), "")
}

// 0 checks each time, but a poll only once a second.
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
	// The first access of a process always looks.
	b.Put(files{"tools/c/tool.sh": ""})
	b.reopen(project.Env{"MCP_TOOLS_TTL": "60"}, Options{})
	want(t, b.names(), "a b c")
}

// M-63: at once after a call.
func TestFreshChanges(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "60"}, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{Fresh: true}), allKinds)
	b.Put(files{"tools/b/tool.sh": ""})
	want(t, b.changed(Poll{Fresh: true}), "tools")
	want(t, b.changed(Poll{Fresh: true}), "")
}

// no change while there is no list; one after, if it
// is another.
func TestChangesAcrossFailure(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	want(t, b.changed(Poll{Fresh: true}), allKinds)
	b.Put(files{"server.d/register.json": "["})
	want(t, b.changed(Poll{Fresh: true}), "")
	b.Remove("server.d/register.json")
	want(t, b.changed(Poll{Fresh: true}), "")
	b.Put(files{"server.d/register.json": "["})
	want(t, b.changed(Poll{Fresh: true}), "")
	b.Put(files{"server.d/register.json": `{"version":1,"tools":[]}`}) // for every source
	want(t, b.changed(Poll{Fresh: true}), "tools")
}

// One look at a time, and who waited for it uses what it found.
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
