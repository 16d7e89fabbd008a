package plugins

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/userenv"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
)

var whole = Plugin{
	Identity: stage.Identity{
		Name: "greeter", Title: "Greeter", Version: "1.2.3", Description: "Greets \"people\"",
		Author: "Ada", Email: "ada@example.com", URL: "https://ada.example",
		Homepage: "https://greeter.example", Repository: "https://github.com/ada/greeter", License: "MIT",
		Keywords: []string{"greeting", "example"},
	},
	Icon: "icon.png", Skills: true, Static: true, Windows: true,
	User: stage.UserConfig{
		Fields: json.RawMessage(`{
			"api_key":{"type":"string","title":"API key","description":"Yours","sensitive":true},
			"folder":{"type":"directory","title":"Folder","description":"To work in"}}`),
		Env: userenv.Read("api_key=GREETER_KEY,folder=MCPBASH_ROOTS,folder=GREETER_FOLDER", nil),
	},
	Tools: []json.RawMessage{
		json.RawMessage(`{"name":"hello","description":"Greets\nsomebody"}`), json.RawMessage(`{"name":"bye"}`),
	},
}

var small = Plugin{Identity: stage.Identity{Name: "small", Version: "0.1.0"}}

// texts returns the files of a plugin.
func texts(t *testing.T, p Plugin) map[string]string {
	t.Helper()
	list := map[string]string{"README.md": p.Readme()}
	for _, f := range p.Files() {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if isProgram := strings.HasPrefix(f.Name, "start-server"); f.Exec != isProgram {
			t.Errorf("%s: executable: %v", f.Name, f.Exec)
		}
		list[f.Name] = string(text)
	}
	return list
}

// golden compares files with those of a txtar file, which UPDATE=1 writes.
func golden(t *testing.T, name string, got map[string]string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	archive, err := txtar.ParseFile(file)
	if os.Getenv("UPDATE") != "" {
		archive = &txtar.Archive{}
		for _, key := range sortedKeys(got) {
			archive.Files = append(archive.Files, txtar.File{Name: key, Data: []byte(strings.ReplaceAll(got[key], "\r", ""))})
		}
		err = os.WriteFile(file, txtar.Format(archive), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) != len(got) {
		t.Errorf("%d files, want %d: %q", len(got), len(archive.Files), sortedKeys(got))
	}
	for _, f := range archive.Files {
		if text := strings.ReplaceAll(got[f.Name], "\r", ""); text != string(f.Data) {
			t.Errorf("%s: %s\n%s", name, f.Name, text)
		}
	}
}

// PL-20 to PL-25, PL-30: the files of a plugin, with everything and with nothing that can be left out.
func TestFiles(t *testing.T) {
	full := texts(t, whole)
	golden(t, "whole.txtar", full)
	if cmd := full["start-server.cmd"]; strings.Count(cmd, "\r\n") != strings.Count(cmd, "\n") {
		t.Error("start-server.cmd: cmd.exe wants CRLF")
	}
	golden(t, "small.txtar", texts(t, small))
}

// PL-3: manifests follow the rules of Agent Plugins 1.0.0, Cursor and Gemini CLI for members and values.
func TestSchemas(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	rules := rawjson.Members(text)
	if len(rules) != 4 {
		t.Fatalf("%d rules", len(rules))
	}
	for _, p := range []Plugin{whole, small} {
		files := texts(t, p)
		for _, rule := range rules {
			s, err := schema.Compile(rule.Value)
			if err != nil {
				t.Fatal(err)
			}
			if faults := s.Check([]byte(files[rule.Name])); len(faults) > 0 || files[rule.Name] == "" {
				t.Errorf("%s, %s: %v", p.Name, rule.Name, faults)
			}
		}
	}
}

// PL-21: names that all agents accept.
func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"demo": "demo", "My Server 2": "my-server-2", "a.b_c--d": "a-b-c-d", "-x-": "x", "Ä": "", "": "",
		strings.Repeat("a", 64): strings.Repeat("a", 64), strings.Repeat("a", 65): "",
	} {
		if got := Name(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// PL-23: the README that is made has the length that the directory of Claude Code wants.
func TestReadme(t *testing.T) {
	for _, p := range []Plugin{whole, small} {
		if isShort([]byte(p.Readme())) {
			t.Errorf("%s: too short", p.Name)
		}
	}
	if !isShort([]byte(strings.Repeat("word ", 39))) || isShort([]byte(strings.Repeat("word ", 40))) {
		t.Error("the limit is 40 words")
	}
}

// PL-24, PL-30: start-server runs the server of its folder with the plugin's variables, through links, and without
// placeholders that the agent left.
func TestStartServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script for Unix")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(dir, "a plugin")
	server := "#!/bin/sh\nprintf '%s\\n' \"$MCPBASH_PLUGIN_ROOT\" \"$MCPBASH_TOOL_ALLOWLIST\" " +
		"\"$MCPBASH_STATIC_REGISTRY\" \"${GREETER_KEY-unset}\" \"${GREETER_FOLDER-unset}\" \"$@\"\n"
	if err := os.MkdirAll(filepath.Join(plugin, "server"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"start-server": texts(t, whole)["start-server"], "server/run-server.sh": server,
	} {
		if err := os.WriteFile(filepath.Join(plugin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a plugin/start-server", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "link"), "serve", "two words")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GREETER_KEY=${GREETER_KEY}", "GREETER_FOLDER=/w"}
	out, err := cmd.CombinedOutput()
	if want := plugin + "\n*\n1\nunset\n/w\nserve\ntwo words\n"; err != nil || string(out) != want {
		t.Errorf("%v, %s, want %s", err, out, want)
	}
	cmd = exec.Command(filepath.Join(dir, "link"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MCPBASH_TOOL_ALLOWLIST=hello"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), plugin+"\nhello\n") {
		t.Errorf("%v, %s", err, out)
	}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// FuzzPluginLock: any list of files is read or refused. A list that is read names at least one file.
func FuzzPluginLock(f *testing.F) {
	for _, seed := range []string{`{"files":{"a":"00"}}`, `{"files":{"a":5}}`, `{"files":[]}`, `{}`, `[`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if list, err := parsePluginLock([]byte(text)); (err == nil) != (len(list) > 0) {
			t.Errorf("%q, %v", list, err)
		}
	})
}

// PL-14: a folder with a list that is larger than its limit is not ours.
func TestPluginLockLimit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(pluginLock))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	const lock = `{"files":{"a":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}}`
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	for size, ours := range map[int]bool{len(lock): true, maxPluginLock: true, maxPluginLock + 1: false} {
		if err := os.WriteFile(file, []byte(lock+strings.Repeat(" ", size-len(lock))), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := checkFolder(dir); (err == nil) != ours {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
