package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// The test binary is also a program that refreshes a project, so that tests
// can have several processes.
func TestMain(m *testing.M) {
	if root := os.Getenv("REGISTRY_TEST_REFRESH"); root != "" {
		os.Exit(refreshProcess(root))
	}
	os.Exit(m.Run())
}

func refreshProcess(root string) int {
	content := os.Getenv("REGISTRY_TEST_CONTENT")
	p := project.Open(root, project.Env{
		"MCPBASH_TOOLS_DIR": content + "/tools", "MCPBASH_RESOURCES_DIR": content + "/resources",
		"MCPBASH_PROMPTS_DIR": content + "/prompts", "MCPBASH_UI_DIR": content + "/ui",
	}, root, func(string) {})
	for range 20 {
		report, err := NewCatalog(p, Options{}).Refresh(context.Background(), RefreshOptions{})
		if err != nil || report.Failed() {
			fmt.Printf("%s, %v\n", report.AppendJSON(nil), err)
			return 1
		}
	}
	return 0
}

// the files in the directory and their modes.
func TestFilesAndModes(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.tools()
	info, err := os.Stat(b.Path(".registry"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
	list, _ := os.ReadDir(b.Path(".registry"))
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
		if info, _ := e.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", e.Name(), info.Mode())
		}
	}
	want(t, strings.Join(names, " "), ".lock tools.json")
}

// a file with the same list is not written again, in this process or another one.
func TestUntouched(t *testing.T) {
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, files{"tools/a/tool.sh": ""})
	b.tools()
	text := b.Read(".registry/tools.json")
	before := folder.StampOfPath(b.Path(".registry/tools.json"))
	b.Advance(time.Hour)
	b.tools()
	b.Put(files{"tools/a/tool.sh": "#"})
	b.tools()
	b.reopen(nil, Options{})
	b.refresh("")
	if folder.StampOfPath(b.Path(".registry/tools.json")) != before {
		t.Error("the file was touched")
	}
	want(t, b.Read(".registry/tools.json"), text)
	// A file in another format with the same hash.
	other := strings.ReplaceAll(text, "\n", " ")
	b.Put(files{".registry/tools.json": other})
	b.reopen(project.Env{"MCP_TOOLS_TTL": "0"}, Options{})
	b.refresh("")
	want(t, b.Read(".registry/tools.json"), other)
	// An invalid file is replaced.
	for _, bad := range []string{"", strings.Replace(text, `"format_version": 1`, `"format_version": 2`, 1),
		text[:len(text)-5]} {
		b.Put(files{".registry/tools.json": bad})
		b.tools()
		got := b.Read(".registry/tools.json")
		if !strings.HasPrefix(got, `{`) || len(got) != len(text) {
			t.Errorf("still there: %s", got)
		}
	}
	b.Remove(".registry") // removing the directory is always safe
	b.tools()
	if len(b.Read(".registry/tools.json")) != len(text) {
		t.Error("not written anew")
	}
}

// the wait for the lock is limited.
func TestLockTimeout(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/.lock": ""})
	holder, err := os.OpenFile(b.Path(".registry/.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if ok, err := atomicfile.TryLock(holder); !ok || err != nil {
		t.Fatal(err)
	}
	b.reopen(nil, Options{LockWait: 20 * time.Millisecond})
	r := b.refresh("")
	want(t, r.Kinds[0].Err.Error(), "registry lock 'registry.refresh' unavailable after 0.02s")
	if !r.Fatal() {
		t.Errorf("%s", r.AppendJSON(nil))
	}
	var lines []string
	for _, k := range kinds.All {
		lines = append(lines, "error "+k.Logger+": registry lock 'registry.refresh' unavailable after 0.02s")
	}
	b.WantLog(append(lines, "mcp-bash: registry lock 'registry.refresh' unavailable after 0.02s")...) // one wait
	want(t, (&atomicfile.LockedError{Name: "registry.refresh", Wait: DefaultLockWait}).Error(),
		"registry lock 'registry.refresh' unavailable after 5s")

	// The context ends a wait for the lock.
	ctx, cancel := context.WithCancel(context.Background())
	b.reopen(nil, Options{LockWait: time.Hour})
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := b.List(ctx, kinds.Tools); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// The system releases the lock of a process that died.
	holder.Close()
	want(t, b.names(), "a")
}

// the directory cannot be created below a file, not even by root.
func TestUnwritable(t *testing.T) {
	env := project.Env{"MCPBASH_REGISTRY_DIR": "VERSION/registry", "MCP_TOOLS_TTL": "0"}
	b := newBed(t, env, files{"tools/a/tool.sh": "", "VERSION": "1"})
	want(t, b.names(), "a")
	want(t, b.names(), "a")
	b.Put(files{"tools/b/tool.sh": ""})
	want(t, b.names(), "a b")
	b.WantLog("warning mcp.registry: Registry directory is not writable; keeping the registry in memory")
	b.reopen(env, Options{})
	r := b.refresh("")
	want(t, r.Kinds[0].Err.Error(), "Registry directory is not writable: "+b.Path("VERSION/registry")+": not a directory")
	if !r.Fatal() {
		t.Errorf("%s", r.AppendJSON(nil))
	}
}

// a directory with the name of the registry file is not replaced.
func TestFileNotReplaceable(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", ".registry/tools.json/x": ""})
	want(t, b.names(), "a")
	b.WantLog("warning mcp.registry: Registry directory is not writable; keeping the registry in memory")
	if list, _ := filepath.Glob(b.Path(".registry/*.tmp-*")); list != nil {
		t.Error("left behind:", list)
	}
}

// Readers never block on a file in the directory, and never follow a link.
func TestHostileRegistryDirectory(t *testing.T) {
	for _, content := range []files{
		{".registry/tools.json|": ""},
		{"secret": "{}", ".registry/tools.json@": "../secret"},
		{".registry/tools.json@": "tools.json"},
		{".registry/tools.json@": "/dev/zero"},
	} {
		content["tools/a/tool.sh"] = ""
		b := newBed(t, nil, content)
		want(t, b.Status("jq").Kinds[0].Count, 0)
		want(t, b.names(), "a")
		want(t, b.Status("jq").Kinds[0].Status, "present")
		if _, there := content["secret"]; there {
			want(t, b.Read("secret"), "{}")
		}
	}
}

// CLI-1202: a catalog with ReadOnly writes nothing.
func TestReadOnly(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	b.reopen(nil, Options{ReadOnly: true})
	want(t, b.names(), "a")
	if r := b.refresh(""); r.Failed() || r.Kinds[0].Count != 1 {
		t.Errorf("%s", r.AppendJSON(nil))
	}
	if _, err := os.Stat(b.Path(".registry")); !os.IsNotExist(err) {
		t.Error("made .registry:", err)
	}
}

// a registry file that would be too large.
func TestTooLarge(t *testing.T) {
	env := project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "400", "MCP_TOOLS_TTL": "0"}
	b := newBed(t, env, files{"tools/a/tool.sh": ""})
	want(t, b.names(), "a")
	text := b.Read(".registry/tools.json")
	b.Put(files{"tools/b/tool.sh": ""})
	for range 3 {
		want(t, b.reason(), "Tool registry exceeds 400 byte cap")
	}
	b.WantLog("error mcp.tools: Tool registry exceeds 400 byte cap") // once
	_, err := b.List(context.Background(), kinds.Tools)
	want(t, string(kinds.Tools.Unavailable(err).AppendJSON(nil)), `{"code":-32603,"message":"Unable to load tool `+
		`registry","data":{"reason":"Tool registry exceeds 400 byte cap"}}`)
	want(t, b.Read(".registry/tools.json"), text) // unchanged
	r := b.refresh("")
	if !r.Failed() || r.Fatal() {
		t.Errorf("%s", r.AppendJSON(nil))
	}
	want(t, string(r.AppendJSON(nil)),
		report(`{"status":"failed","count":1,"error":"Tool registry exceeds 400 byte cap"}`))
	b.Log()
	// When the list fits again, the messages about it are logged.
	b.Remove("tools/b")
	b.Put(files{"tools/a/tool.meta.json": `{"title":5}`})
	want(t, b.names(), "a")
	b.WantLog(`warning mcp.tools: tools/a/tool.meta.json: "title" must be a string; ignored`)
	// A file above the limit counts as absent.
	b.Put(files{".registry/tools.json": text + strings.Repeat(" ", 400)})
	b.reopen(env, Options{})
	want(t, b.Status("jq").Kinds[0].Status, "invalid")
	b.tools()
	want(t, b.Status("jq").Kinds[0].Status, "present")
}

// a warning about many items.
func TestCrowd(t *testing.T) {
	content := files{}
	for i := range 501 {
		content[fmt.Sprintf("tools/t%d/tool.sh", i)] = ""
	}
	b := newBed(t, project.Env{"MCP_TOOLS_TTL": "0"}, content)
	b.tools()
	b.WantLog("warning mcp.tools: Tools registry contains 501 entries; consider manual registration")
	b.Put(files{"tools/t1/tool.sh": "# touched"})
	b.tools()
	b.WantLog()
	b.Put(files{"tools/t1/tool.sh": `# mcp: {"description":"changed"}`})
	b.tools()
	b.WantLog("warning mcp.tools: Tools registry contains 501 entries; consider manual registration")
	b.Remove("tools/t1")
	b.tools()
	b.WantLog()
}

// processes that refresh at the same time never leave an incomplete file.
func TestProcessesAtOnce(t *testing.T) {
	b := newBed(t, nil, files{
		"one/tools/a/tool.sh": "", "two/tools/b/tool.sh": "", "two/tools/c/tool.sh": "", "one/prompts/p.txt": "",
		"one/ui/u/index.html": "",
		"one/resources/r.txt": "", "two/resources/s.txt": "", "two/resources/t.meta.json": `{"name":"t",` +
			`"uriTemplate":"x://{y}"}`,
	})
	done := make(chan error)
	for _, dir := range []string{"one", "two", "one", "two"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "REGISTRY_TEST_REFRESH="+b.Root, "REGISTRY_TEST_CONTENT="+b.Path(dir))
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			done <- err
		}()
	}
	for left := 4; left > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			left--
		default:
			for _, kind := range kinds.All {
				if file, err := b.store.read(kind); err == nil {
					if hashOf(file.items) != file.hash {
						t.Fatal("a file that was not written by one process")
					}
				} else if !errors.Is(err, errMissing) {
					t.Fatal(err)
				}
			}
		}
	}
	if list, _ := filepath.Glob(b.Path(".registry/*tmp*")); list != nil {
		t.Error("left behind:", list)
	}
}

// simultaneous refreshes of different subtrees keep each other's items.
func TestFiltersAtOnce(t *testing.T) {
	b := newBed(t, nil, nil)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for round := range 15 {
				at := fmt.Sprintf("tools/%d/%d-%d/tool.sh", g, g, round)
				os.MkdirAll(filepath.Dir(b.Path(at)), 0o755)
				os.WriteFile(b.Path(at), []byte("# mcp: {}\n"), 0o644)
				report, err := NewCatalog(b.Project, Options{}).Refresh(t.Context(), RefreshOptions{Filter: fmt.Sprintf("tools/%d",
					g)})
				if err != nil || report.Failed() {
					t.Errorf("%s, %v", report.AppendJSON(nil), err)
				}
			}
		})
	}
	group.Wait()
	file, err := b.store.read(kinds.Tools)
	if err != nil || len(file.items) != 4*15 {
		t.Errorf("%d tools, %v", len(file.items), err)
	}
}
