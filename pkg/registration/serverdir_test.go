package registration

import (
	"testing"

	"mcp-bash/pkg/registry/folder"
)

// likewise in server.d, by whoever registers next.
func TestSweepOfServerDir(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": "", "server.d/.register.json.tmp-1-0a": "{",
		"server.d/register.json.tmp-mine": ""})
	if err := b.project(nil).RegisterTool(ToolRegistration{Name: "x", Path: "a/tool.sh"}); err != nil {
		t.Fatal(err)
	}
	if folder.StampOfPath(b.Path("server.d/.register.json.tmp-1-0a")).Exists() || !folder.StampOfPath(b.Path(
		"server.d/register.json.tmp-mine")).Exists() {
		t.Error("not the one that was left half-written")
	}
}
