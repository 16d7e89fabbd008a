package registry

import "testing"

// likewise in server.d, by whoever registers next.
func TestSweepOfServerDir(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": "", "server.d/.register.json.tmp-1-0a": "{", "server.d/register.json.tmp-mine": ""})
	if err := b.project(nil).RegisterTool(ToolRegistration{Name: "x", Path: "a/tool.sh"}); err != nil {
		t.Fatal(err)
	}
	if stampOfPath(b.Path("server.d/.register.json.tmp-1-0a")).exists() || !stampOfPath(b.Path("server.d/register.json.tmp-mine")).exists() {
		t.Error("not the one that was left half-written")
	}
}
