package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients/editors"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

var rewrite = flag.Bool("write", false, "write the files of testdata/clients anew")

// demo is an example server.
var demo = Server{Name: "demo", Command: "/opt/mcp/bin/mcp-bash", Root: "/home/you/demo"}

// home returns a Place with a new home directory.
func home(t *testing.T) Place {
	dir := t.TempDir()
	env := project.Env{"HOME": filepath.Join(dir, "home")}
	return Place{Open: editors.Open, System: "linux", Env: env, Root: filepath.Join(dir, "project")}
}

// request returns a request that adds demo to a file in a new directory.
func request(t *testing.T, client string) Request {
	t.Helper()
	c := Find(client)
	if c == nil {
		t.Fatalf("no client %s", client)
	}
	return Request{Client: c, Server: demo, Place: Place{Open: editors.Open}, File: filepath.Join(t.TempDir(), "file")}
}

func apply(t *testing.T, r Request, want string) *Change {
	t.Helper()
	change, err := Apply(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if change.Action != want {
		t.Fatalf("%s, want %s", change.Action, want)
	}
	return change
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// CLI-711, CLI-715: the content of every client's file, both new and with other entries. A
// second run changes nothing. Removing the entry restores the file, with or without a
// backup.
func TestClients(t *testing.T) {
	for _, c := range clients() {
		t.Run(c.Name, func(t *testing.T) {
			golden := filepath.Join("testdata", "clients", c.Name+".txtar")
			archive, err := txtar.ParseFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			got := map[string]string{"before": files["before"]}

			r := request(t, c.Name)
			apply(t, r, Added)
			got["new"] = readFile(t, r.File)
			apply(t, r, Unchanged)
			remove := r
			remove.Remove = true
			apply(t, remove, Removed)
			if _, err := os.Lstat(r.File); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("of the new file there is left: %s", readFile(t, r.File))
			}

			for _, backup := range []bool{true, false} {
				writeFile(t, r.File, files["before"])
				change := apply(t, r, Added)
				got["after"] = readFile(t, r.File)
				if kept := readFile(t, change.Backup); kept != files["before"] {
					t.Errorf("the backup is %s", kept)
				}
				if change := apply(t, r, Unchanged); change.Backup != "" {
					t.Error("a backup for nothing")
				}
				if !backup {
					os.Remove(change.Backup)
				}
				apply(t, remove, Removed)
				if left := readFile(t, r.File); left != files["before"] {
					t.Errorf("removed, backup %v:\n%s\nwant\n%s", backup, left, files["before"])
				}
				apply(t, remove, Absent)
			}
			if snippet, err := c.Snippet(demo); err != nil || c.Printed == nil && string(snippet) != got["new"] {
				t.Errorf("%v, %s", err, snippet)
			}

			if *rewrite {
				out := txtar.Archive{}
				for _, name := range []string{"before", "after", "new"} {
					out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(got[name])})
				}
				writeFile(t, golden, string(txtar.Format(&out)))
				os.Chmod(golden, 0o644)
				return
			}
			for name, text := range got {
				if text != files[name] {
					t.Errorf("%s:\n%s\nwant\n%s", name, text, files[name])
				}
			}
		})
	}
}

// If only our entry was added since the backup, removing it restores the backup.
func TestRemoveRestores(t *testing.T) {
	for client, texts := range map[string][]string{
		"cursor":   {"", "{}", "{ }\n", "{\"mcpServers\": {\n}}", "{\"a\": 1}", "// note", "\ufeff{}\r\n"},
		"codex":    {"", "model = 1", "# note\n", "[mcp_servers]\n"},
		"goose":    {"", "extensions:", "extensions: {}", "a: 1", "# note", "extensions: {a: 1}\n"},
		"continue": {"", "mcpServers:\nname: x\n", "mcpServers: []\n"},
	} {
		for _, text := range texts {
			r := request(t, client)
			writeFile(t, r.File, text)
			apply(t, r, Added)
			r.Remove = true
			apply(t, r, Removed)
			if left := readFile(t, r.File); left != text {
				t.Errorf("%s: %q has become %q", client, text, left)
			}
		}
	}
}

// Our entry is updated in place. Changes that people made to it are kept.
func TestUpdate(t *testing.T) {
	for client, tc := range map[string]struct{ before, after string }{
		"claude-code": {
			`{"mcpServers":{"demo":{"command":"/old/mcp-bash","timeout":5,"env":{"KEY":"k",` +
				`"MCPBASH_PROJECT_ROOT":"/home/you/demo"}}}}`,
			`{"mcpServers":{"demo":{"command":"/opt/mcp/bin/mcp-bash","timeout":5,"env":{"KEY":"k",` +
				`"MCPBASH_PROJECT_ROOT":"/home/you/demo","MCPBASH_TOOL_ALLOWLIST":"*"}}}}`,
		},
		"opencode": {
			"{\n  \"mcp\": {\n    \"demo\": { // mine\n      \"command\": [\"C:\\\\bin\\\\mcp-bash.exe\", \"serve\"],\n" +
				"      \"environment\": {\"MCPBASH_PROJECT_ROOT\": \"/home/you/demo\", \"MCPBASH_TOOL_ALLOWLIST\": \"hello\"}\n" +
				"    }\n  }\n}\n",
			"{\n  \"mcp\": {\n    \"demo\": { // mine\n      \"command\": [\"/opt/mcp/bin/mcp-bash\",\"serve\"],\n" +
				"      \"environment\": {\"MCPBASH_PROJECT_ROOT\": \"/home/you/demo\", \"MCPBASH_TOOL_ALLOWLIST\": \"hello\"},\n" +
				"      \"type\": \"local\"\n    }\n  }\n}\n",
		},
		"codex": {
			"[mcp_servers.demo]\ncommand = 'mcp-bash' # mine\nstartup_timeout_sec = 9\n[mcp_servers.demo.env]\n" +
				"MCPBASH_PROJECT_ROOT = \"/home/you/demo\"\n",
			"[mcp_servers.demo]\ncommand = \"/opt/mcp/bin/mcp-bash\" # mine\nstartup_timeout_sec = 9\n[mcp_servers.demo.env]\n" +
				"MCPBASH_TOOL_ALLOWLIST = \"*\"\nMCPBASH_PROJECT_ROOT = \"/home/you/demo\"\n",
		},
		"goose": {
			"extensions:\n  demo:\n    type: stdio\n    enabled: false # for now\n    name: demo\n" +
				"    cmd: mcp-bash # mine\n    args: []\n    timeout: 5\n    envs:\n      MCPBASH_PROJECT_ROOT: /home/you/demo\n",
			"extensions:\n  demo:\n    type: stdio\n    enabled: false # for now\n    name: demo\n" +
				"    cmd: /opt/mcp/bin/mcp-bash # mine\n    args: []\n    timeout: 5\n    envs:\n" +
				"      MCPBASH_TOOL_ALLOWLIST: \"*\"\n      MCPBASH_PROJECT_ROOT: /home/you/demo\n",
		},
	} {
		r := request(t, client)
		writeFile(t, r.File, tc.before)
		apply(t, r, Updated)
		if got := readFile(t, r.File); got != tc.after {
			t.Errorf("%s:\n%s\nwant\n%s", client, got, tc.after)
		}
		apply(t, r, Unchanged)
	}
}

// An entry for another server is neither replaced nor removed, except with Force.
func TestForeign(t *testing.T) {
	for _, tc := range []struct{ client, text, why string }{
		{"cursor", `{"mcpServers":{"demo":{"command":"npx"}}}`, "it runs npx"},
		{"cursor", `{"mcpServers":{"demo":{"url":"https://x"}}}`, "it runs no command"},
		{"cursor", `{"mcpServers":{"demo":"mcp-bash"}}`, "it runs no command"},
		{"cursor", `{"mcpServers":{"demo":{"command":"mcp-bash"}}}`, "it has no project"},
		{"cursor", `{"mcpServers":{"demo":{"command":"mcp-bash","env":{"MCPBASH_PROJECT_ROOT":"/usr"}}}}`,
			"it is for the project /usr"},
		{"opencode", `{"mcp":{"demo":{"command":[]}}}`, "it runs no command"},
		{"codex", "[mcp_servers.demo]\ncommand = \"x\"\n", "it runs x"},
		{"codex", "[mcp_servers.demo]\nurl = \"x\"\n\n[mcp_servers.demo.headers]\na = \"b\"\n", "it runs no command"},
		{"goose", "extensions:\n  demo:\n    cmd: x\n", "it runs x"},
		{"continue", "mcpServers:\n  - name: demo\n    command: x\n", "it runs x"},
	} {
		r := request(t, tc.client)
		writeFile(t, r.File, tc.text)
		for _, r.Remove = range []bool{false, true} {
			_, err := Apply(t.Context(), r)
			var e *cli.Error
			if !errors.As(err, &e) || e.Code != cli.CodeExists || !strings.Contains(e.Error(), tc.why) {
				t.Errorf("%s %s: %v", tc.client, tc.text, err)
			}
			if got := readFile(t, r.File); got != tc.text {
				t.Errorf("%s has become %s", tc.text, got)
			}
		}
		r.Force, r.Remove = true, false
		apply(t, r, Updated)
		r.Force = false
		apply(t, r, Unchanged)
		writeFile(t, r.File, tc.text)
		r.Force, r.Remove = true, true
		apply(t, r, Removed)
		r.Force = false
		apply(t, r, Absent)
	}
}

// A project's root can be a path with symbolic links.
func TestSameRootThroughLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	r := request(t, "cursor")
	r.Server.Root = filepath.Join(dir, "link")
	apply(t, r, Added)
	r.Server.Root = dir
	apply(t, r, Unchanged)
}

// CLI-715: the path of each client's file.
func TestPlaces(t *testing.T) {
	env := project.Env{"HOME": "/h", "USERPROFILE": "/w", "APPDATA": "/w/AppData"}
	p := Place{Open: editors.Open, Env: env, Root: "/p"}
	for _, tc := range []struct{ client, system, scope, want string }{
		{"claude-desktop", "linux", "", "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", "darwin", "", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", "", "/w/AppData/Claude/claude_desktop_config.json"},
		{"claude-desktop", "linux", "project", "! Claude Desktop has no file for a project"},
		{"cursor", "windows", "user", "/w/.cursor/mcp.json"},
		{"cursor", "linux", "project", "/p/.cursor/mcp.json"},
		{"claude-cli", "linux", "", "/h/.claude.json"},
		{"claude-code", "windows", "", "/p/.mcp.json"},
		{"claude-code", "windows", "user", "! the path of Claude Code's file on this system is unknown"},
		{"codex", "linux", "", "/h/.codex/config.toml"},
		{"goose", "darwin", "", "/h/.config/goose/config.yaml"},
		{"librechat", "linux", "", "! the path of LibreChat's file on this system is unknown"},
		{"lm-studio", "darwin", "", "! the path of LM Studio's file on this system is unknown"},
		{"continue", "linux", "project", "/p/.continue/mcpServers/de_mo.yaml"},
		{"opencode", "linux", "", "/h/.config/opencode/opencode.jsonc"},
		{"qwen", "linux", "", "/h/.qwen/settings.json"},
		{"qwen", "linux", "project", "/p/.qwen/settings.json"},
		{"droid", "darwin", "", "/h/.factory/mcp.json"},
		{"droid", "linux", "project", "/p/.factory/mcp.json"},
		{"amp", "linux", "", "/h/.config/amp/settings.json"},
		{"amp", "linux", "project", "/p/.amp/settings.json"},
		{"amp", "windows", "user", "! the path of Amp's file on this system is unknown"},
		{"auggie", "linux", "", "/h/.augment/settings.json"},
		{"auggie", "linux", "project", "/p/.augment/settings.json"},
		{"kilo", "linux", "", "/h/.config/kilo/kilo.jsonc"},
		{"kilo", "linux", "project", "/p/.kilo/kilo.jsonc"},
		{"crush", "linux", "", "/h/.config/crush/crush.json"},
		{"crush", "linux", "project", "/p/.crush.json"},
		{"junie", "windows", "", "/w/.junie/mcp/mcp.json"},
		{"junie", "linux", "project", "/p/.junie/mcp/mcp.json"},
		{"antigravity", "linux", "", "/h/.gemini/config/mcp_config.json"},
		{"antigravity", "linux", "project", "! Antigravity has no file for a project"},
		{"roo", "darwin", "", "/h/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/" +
			"settings/mcp_settings.json"},
		{"roo", "linux", "project", "/p/.roo/mcp.json"},
		{"warp", "linux", "", "/h/.warp/.mcp.json"},
		{"warp", "linux", "project", "/p/.warp/.mcp.json"},
		{"amazon-q", "linux", "", "/h/.aws/amazonq/mcp.json"},
		{"amazon-q", "linux", "project", "/p/.amazonq/mcp.json"},
		{"jetbrains", "linux", "", "! the path of JetBrains AI Assistant's file on this system is unknown"},
		{"json", "linux", "", "! the path of the client's file on this system is unknown"},
	} {
		p.System = tc.system
		server := demo
		server.Name = "de/mo"
		r := Request{Client: Find(tc.client), Server: server, Place: p, Scope: Scope(tc.scope)}
		got, err := r.target()
		if want, isError := strings.CutPrefix(tc.want, "! "); isError {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%+v: %s, %v", tc, got.path, err)
			}
		} else if err != nil || got.path != filepath.FromSlash(tc.want) {
			t.Errorf("%+v: %s, %v", tc, got.path, err)
		}
	}
	p.System = "linux"
	r := Request{Client: Find("codex"), Server: demo, Place: p}
	for value, want := range map[string]string{"/c": "/c/config.toml", "relative": "/h/.codex/config.toml"} {
		p.Env["CODEX_HOME"] = value
		if got, err := r.target(); err != nil || got.path != want {
			t.Errorf("%s: %s, %v", value, got.path, err)
		}
	}
	delete(p.Env, "CODEX_HOME")
	delete(p.Env, "HOME")
	if _, err := r.target(); err == nil || !strings.HasPrefix(err.Error(), "HOME is not set") {
		t.Error(err)
	}
	r.Client, r.Place.System = Find("vscode"), "windows"
	delete(p.Env, "APPDATA")
	if _, err := r.target(); err == nil || !strings.HasPrefix(err.Error(), "APPDATA is not set") {
		t.Error(err)
	}
}

// CLI-752: clients that declare no roots get their variable for the workspace as MCPBASH_ROOTS, unless the project
// names its roots. An older entry gets it, too. A value that the user set stays.
func TestWorkspace(t *testing.T) {
	want := map[string]string{
		"copilot": "${PWD:-.}", "droid": "${PWD:-.}", "crush": "${PWD:-.}", "auggie": "${PWD:-.}",
		"amp": "${PWD}", "roo": "${workspaceFolder}", "amazon-q": "${env:PWD}",
	}
	rootsOf := func(t *testing.T, r Request) string {
		t.Helper()
		e, _, err := r.Client.open(editors.Open, []byte(readFile(t, r.File)))
		if err != nil {
			t.Fatal(err)
		}
		entry, err := e.Get(r.Client.path(r.Server.Name)...)
		if err != nil {
			t.Fatal(err)
		}
		env, _ := field(r.Client.Entry, "$env")
		return rawjson.TextOf(rawjson.Get(entry, env), "MCPBASH_ROOTS")
	}
	for _, c := range clients() {
		r := request(t, c.Name)
		r.Server.OwnRoots = true
		apply(t, r, Added)
		if got := rootsOf(t, r); got != "" {
			t.Errorf("%s: the project's own roots are replaced by %s", c.Name, got)
		}
		r.Server.OwnRoots = false
		if want[c.Name] == "" {
			apply(t, r, Unchanged)
			continue
		}
		apply(t, r, Updated)
		if got := rootsOf(t, r); got != want[c.Name] {
			t.Errorf("%s: %q, want %q", c.Name, got, want[c.Name])
		}
		writeFile(t, r.File, strings.ReplaceAll(readFile(t, r.File), want[c.Name], "/mine"))
		apply(t, r, Unchanged)
		if got := rootsOf(t, r); got != "/mine" {
			t.Errorf("%s: the user's value has become %s", c.Name, got)
		}
	}
}

// CLI-751: wrong names and their suggestions.
func TestSuggest(t *testing.T) {
	for name, want := range map[string][]string{
		"claude": {"claude-desktop", "claude-code"}, "Claude": {"claude-desktop", "claude-code"},
		"curser": {"cursor"}, "factory": {"droid"}, "q": {"amazon-q"}, "mcpServers": {"json"}, "nonsense": nil, "": nil,
	} {
		if got := Suggest(name); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, c := range clients() {
		for _, name := range c.Mistaken {
			if Find(name) != nil || !slices.Contains(Suggest(name), c.Name) {
				t.Errorf("%s of %s is a client's name, or suggests %q", name, c.Name, Suggest(name))
			}
		}
	}
}

// If a client can have several files, the existing one is edited.
func TestPresentFile(t *testing.T) {
	r := request(t, "opencode")
	r.File, r.Place = "", home(t)
	dir := filepath.Join(r.Place.Env["HOME"], ".config", "opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "opencode.json"), "{}")
	if change := apply(t, r, Added); change.File != filepath.Join(dir, "opencode.json") {
		t.Error(change.File)
	}
}

// Every client has an entry in the table with all required fields.
func TestTable(t *testing.T) {
	strict := json.NewDecoder(bytes.NewReader(table))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&[]struct {
		Client, Title string
		row
	}{}); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, c := range clients() {
		if seen[c.Name] || c.Title == "" || c.Format == "" || c.Section == nil || c.After == "" {
			t.Errorf("%s is duplicate or incomplete", c.Name)
		}
		seen[c.Name] = true
		if h := c.HTTP; (h.Entry == nil) != (h.Instead != "") ||
			h.Entry != nil && !strings.Contains(string(h.Entry), `"$url"`) {
			t.Errorf("%s: %+v", c.Name, h)
		}
		for _, placeholder := range []string{"$command", "$env"} {
			if name, _ := field(c.Entry, placeholder); name == "" {
				t.Errorf("%s: no %s in the entry", c.Name, placeholder)
			}
		}
		if c.List && !(strings.Contains(string(c.Entry), `"name":"$name"`) &&
			strings.Contains(string(c.HTTP.Entry), `"name":"$name"`)) {
			t.Errorf("%s: an item of a list needs a name", c.Name)
		}
	}
}

// CLI-713: no warning for a name that a client accepts unchanged.
func TestWarnings(t *testing.T) {
	long := strings.Repeat("a", 60)
	for _, tc := range []struct {
		client, name, root string
		want               []string
	}{
		{"cursor", "my-server2", "/p", nil},
		{"cursor", "my_server", "/p", nil},
		{"gemini", "my_server", "/p", []string{`"my_server": Gemini CLI splits the name at _ in its rules`}},
		{"codex", "a.b", "/p", []string{`"a.b": Codex CLI replaces other characters in the names of tools with _`}},
		{"claude-code", "workspace", "/p", []string{`Claude Code reserves the name "workspace"`}},
		{"claude-code", "é b", "/p", []string{`"é b": Claude Code accepts such names in none of its commands`}},
		{"gemini", long, "/p", []string{`"` + long + `" is long: Gemini CLI limits the names of tools ` +
			"with the server's to 63 characters. If a tool's name has more than 0, Gemini CLI shortens it"}},
		{"copilot", long[:39], "/p", nil},
		{"copilot", long[:40], "/p", []string{`"` + long[:40] + `" is long: Copilot CLI limits the names of tools`}},
		{"cursor", "x", "/p/${a}", []string{`/p/${a}: Cursor expands variables that begin with "${"`}},
		{"codex", "x", "/p/${a}", nil},
		{"opencode", "x", "/p/{env:a}", []string{`/p/{env:a}: opencode expands variables that begin with "{env:"`}},
	} {
		got := Find(tc.client).Warnings(Server{Name: tc.name, Command: "/c", Root: tc.root})
		if len(got) != len(tc.want) || len(got) == 1 && !strings.HasPrefix(got[0], tc.want[0]) {
			t.Errorf("%s %s: %q", tc.client, tc.name, got)
		}
	}
}

// Any name and any path can be read from the file as they were written.
func FuzzServer(f *testing.F) {
	f.Add("demo", "/p")
	f.Add("a.b \"c\" # '", "/p/\u2028\t\x00")
	f.Add("yes", "C:\\x\\{env:A}")
	f.Add("- a: b", "\u0085\ufeff")
	f.Fuzz(func(t *testing.T, name, root string) {
		s := Server{
			Name: strings.ToValidUTF8(name, "?"), Command: "/opt/mcp-bash", Root: strings.ToValidUTF8(root, "?"),
		}
		for _, c := range clients() {
			e, _, err := c.open(editors.Open, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Set(c.entryFor(s), c.path(s.Name)...); err != nil {
				t.Fatalf("%s: %q: %v", c.Name, s.Name, err)
			}
			got, err := e.Get(c.path(s.Name)...)
			if err != nil || c.foreign(got, s) != "" && s.Root != "" {
				t.Fatalf("%s: %v, %s in\n%s", c.Name, err, got, e.Bytes())
			}
			if err := e.Remove(c.path(s.Name)...); err != nil {
				t.Fatalf("%s: %q: %v", c.Name, s.Name, err)
			}
		}
	})
}

// CLI-712: two concurrent runs both add their entry.
func TestTogether(t *testing.T) {
	r := request(t, "cursor")
	writeFile(t, r.File, "{\n  // mine\n}\n")
	const many = 8
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() {
			mine := r
			mine.Server.Name = fmt.Sprintf("s%d", i)
			if _, err := Apply(context.Background(), mine); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	text := readFile(t, r.File)
	for i := range many {
		if !strings.Contains(text, fmt.Sprintf("\"s%d\"", i)) {
			t.Errorf("s%d is lost:\n%s", i, text)
		}
	}
	if !strings.Contains(text, "// mine") {
		t.Error(text)
	}
}

// CLI-711: files at the size limit and above. The limit depends on the format.
func TestLimits(t *testing.T) {
	for client, max := range map[string]int{"cursor": 16 << 20, "codex": 1 << 20, "goose": 1 << 20} {
		r := request(t, client)
		refused := func(max int) {
			t.Helper()
			_, err := Apply(t.Context(), r)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("larger than %d bytes", max)) {
				t.Errorf("%s: %v", client, err)
			}
		}
		writeFile(t, r.File, "")
		if err := os.Truncate(r.File, int64(max)+1); err != nil {
			t.Fatal(err)
		}
		refused(max)
		small := *r.Client.row
		small.max = 100
		r.Client = &Client{r.Client.Name, r.Client.Title, &small}
		filler := map[string]string{"cursor": "{}", "codex": "a = 1\n", "goose": "a: 1\n"}[client]
		filler += strings.Repeat("\n", 100-len(filler))
		writeFile(t, r.File, filler+"\n")
		refused(100)
		writeFile(t, r.File, filler)
		apply(t, r, Added)
	}
}

// A file that a client cannot read is not changed, and the error has the line.
func TestRefusedText(t *testing.T) {
	for _, tc := range []struct{ client, text, want string }{
		{"claude-code", "{\n// no\n}", "not JSON: line 2: a comment, where only plain JSON is accepted; nothing was changed"},
		{"gemini", "{\"a\": 1,\n}", "not JSON with comments: line 1: a comma before a closing bracket"},
		{"cursor", "{", "not JSON with comments: line 1, column 2: "},
		{"cursor", `{"mcpServers": 1}`, "mcpServers is not an object"},
		{"codex", "a = \n", "not TOML: line 1: "},
		{"goose", "a: [\n", "not YAML: line 1: "},
		{"goose", "\xff\xfea", "not YAML: "},
	} {
		r := request(t, tc.client)
		writeFile(t, r.File, tc.text)
		_, err := Apply(t.Context(), r)
		if err == nil || !strings.HasPrefix(err.Error(), r.File+": "+tc.want) {
			t.Errorf("%s: %v", tc.client, err)
		}
		if left := listDir(t, filepath.Dir(r.File)); !slices.Equal(left, []string{"file"}) || readFile(t, r.File) != tc.text {
			t.Errorf("%s: %q", tc.client, left)
		}
	}
}

func listDir(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A dry run does not report changes (CLI-714).
func TestDryRun(t *testing.T) {
	r := request(t, "cursor")
	r.DryRun = true
	r.File = filepath.Join(filepath.Dir(r.File), "no", "where", "file")
	if change := apply(t, r, Added); change.Old != nil || !bytes.Contains(change.New, []byte("demo")) {
		t.Errorf("%s", change.New)
	}
	if left := listDir(t, filepath.Dir(filepath.Dir(filepath.Dir(r.File)))); left != nil {
		t.Errorf("%q was made", left)
	}
	r.Remove = true
	apply(t, r, Absent)
}

// Clients start programs from their files in a project, so the table of code includes these
// files (CF-14).
func TestProjectFilesRunNext(t *testing.T) {
	p := &project.Project{Root: filepath.FromSlash("/p")}
	listed := p.RunsNext()
	for _, client := range clients() {
		for _, file := range client.Project {
			file = filepath.Join(p.Root, filepath.FromSlash(file))
			if !slices.ContainsFunc(listed, func(path string) bool { return fsys.Within(path, file) }) {
				t.Errorf("%s of %s is not in the table of pkg/run/code", file, client.Name)
			}
		}
	}
}
