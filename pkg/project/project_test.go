//go:build unix

package project

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

var chosen = code.OperatorFile

// place makes files below a fresh directory and returns it, links resolved.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(dir, 0o755)
	return dir
}

func open(t *testing.T, root string, env Env) (*Project, *[]string) {
	t.Helper()
	var warnings []string
	if env == nil {
		env = Env{}
	}
	return Open(root, env, root, func(s string) { warnings = append(warnings, s) }), &warnings
}

// P-106, CLI-401 to CLI-403.
func TestFindRoot(t *testing.T) {
	dir := place(t, map[string]string{"p/server.d/server.meta.json": "{}", "p/tools/a/b/x": "", "q/y": ""})
	os.Symlink(filepath.Join(dir, "p"), filepath.Join(dir, "link"))
	for _, tc := range []struct {
		name, env, flag, dir string
		want                 string
	}{
		{"from below", "", "", "p/tools/a/b", "p"},
		{"here", "", "", "p", "p"},
		{"through a link", "", "", "link/tools", "p"},
		{"environment", "q", "", "p", "q"},
		{"option beats environment", "q", "link", "p", "p"},
		{"none", "", "", "q", "none"},
		{"missing", "nowhere", "", "p", "missing"},
		{"a file", "q/y", "", "p", "missing"},
	} {
		abs := func(s string) string {
			if s == "" {
				return ""
			}
			return filepath.Join(dir, s)
		}
		got, err := FindRoot(Env{"MCPBASH_PROJECT_ROOT": abs(tc.env)}, abs(tc.flag), abs(tc.dir))
		var missing *MissingError
		switch {
		case tc.want == "none":
			if !errors.Is(err, ErrNone) {
				t.Errorf("%s: %v", tc.name, err)
			}
		case tc.want == "missing":
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), "directory does not exist: "+dir) {
				t.Errorf("%s: %v", tc.name, err)
			}
		case err != nil || got != abs(tc.want):
			t.Errorf("%s: %s, %v", tc.name, got, err)
		}
	}
}

// P-107, CLI-404: overrides, relative ones made absolute.
func TestDirs(t *testing.T) {
	root := place(t, nil)
	p := Open(root, Env{"MCPBASH_TOOLS_DIR": "/t/", "MCPBASH_REGISTRY_DIR": "r/x"}, "/cwd", func(string) {})
	if p.Tools != "/t" || p.Registry != "/cwd/r/x" || p.Resources != filepath.Join(root, "resources") ||
		p.Server != filepath.Join(root, "server.d") {
		t.Errorf("%+v", p.Dirs)
	}
	p, _ = open(t, root, nil)
	p.Create()
	info, err := os.Stat(filepath.Join(root, ".registry"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("registry directory: %v, %v", info, err)
	}
	for _, name := range []string{"tools", "resources", "prompts", "server.d"} {
		if !exists(filepath.Join(root, name)) {
			t.Error(name, "is missing")
		}
	}
	for _, name := range []string{"providers", "ui", "completions"} {
		if exists(filepath.Join(root, name)) {
			t.Error(name, "was made")
		}
	}
}

// P-1301, P-108, P-1306.
func TestLogLevel(t *testing.T) {
	root := place(t, map[string]string{"server.d/.debug": "whatever"})
	for _, tc := range []struct {
		env    Env
		level  mcp.Level
		set    bool
		marker bool
		quiet  bool
	}{
		{Env{}, mcp.Debug, true, true, false},
		{Env{"MCPBASH_LOG_LEVEL": "false"}, mcp.Info, true, false, false},
		{Env{"MCPBASH_LOG_LEVEL": "ERROR"}, mcp.Err, true, false, true},
		{Env{"MCPBASH_LOG_LEVEL": "x", "MCPBASH_QUIET": "true"}, mcp.Info, true, false, true},
		{Env{"MCPBASH_SERVER_DIR": "/none", "MCPBASH_LOG_LEVEL_DEFAULT": "warning"}, mcp.Warning, false, false, false},
		{Env{"MCPBASH_SERVER_DIR": "/none", "MCPBASH_LOG_LEVEL_DEFAULT": "emergency"}, mcp.Emergency, false, false,
			false},
	} {
		p, _ := open(t, root, tc.env)
		if l := p.Logging; l.Level != tc.level || l.LevelSet != tc.set || l.Marker != tc.marker || l.Quiet != tc.quiet {
			t.Errorf("%v: %+v", tc.env, l)
		}
	}
}

// protocol section 27, P-1500, P-1700, P-1800, P-2301: a value
// that is not a number means the default.
// E-2, CLI-1808: placeholders that a client of bundles did not fill in are unset.
func TestUnfilledEnv(t *testing.T) {
	for value, want := range map[string]bool{
		"${user_config.folder}": false, "${user_config.}": false,
		"${user_config.folder}/x": false, "${user_config.a}${user_config.b}": false, "${HOME}": true, "x": true,
		"x${user_config.folder}": true, "": true,
	} {
		t.Setenv("MCPBASH_ROOTS", value)
		if got, set := OSEnv()["MCPBASH_ROOTS"]; set != want || set && got != value {
			t.Errorf("%s: %q, %t", value, got, set)
		}
		if named := slices.Contains(Placeholders(), "MCPBASH_ROOTS"); named == want {
			t.Errorf("%s: among the placeholders: %t", value, named)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, tc := range []struct {
		env   Env
		check func(s *Settings) bool
	}{
		{Env{}, func(s *Settings) bool {
			return s.Limits == Limits{64 << 20, 0, 64 << 20, 9 << 20, 9 << 20, 9 << 20, 16, 100, 100} &&
				s.Sessions.Idle == time.Hour && s.Sessions.Shutdown == 5*time.Second && s.Sessions.LiveProgress &&
				s.Calls.Timeout == 30 && s.Calls.StderrTail == 4096 && s.Calls.PayloadInline == 65536 &&
				s.Token.Key == "mcpbash/remoteToken" && s.Token.Fallback == "remoteToken" && !s.Minimal
		}},
		{Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "0"}, func(s *Settings) bool { return s.Limits.Concurrent == 1 }},
		{Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "x"}, func(s *Settings) bool { return s.Limits.Concurrent == 16 }},
		{Env{"MCPBASH_MAX_PROGRESS_PER_MIN": "7"}, func(s *Settings) bool {
			return s.Limits.Progress == 7 &&
				s.Limits.Logs == 7
		}},
		{Env{"MCPBASH_MAX_PROGRESS_PER_MIN": "7", "MCPBASH_MAX_LOGS_PER_MIN": "-1"},
			func(s *Settings) bool { return s.Limits.Logs == 100 }},
		{Env{"MCPBASH_MAX_PROGRESS_PER_MIN": "0"}, func(s *Settings) bool {
			return s.Limits.Progress == 0 &&
				s.Limits.Logs == 0
		}},
		{Env{"MCPBASH_PROGRESS_FLUSH_INTERVAL": "0.001"},
			func(s *Settings) bool { return s.Sessions.ProgressFlush == 10*time.Millisecond }},
		{Env{"MCPBASH_PROGRESS_FLUSH_INTERVAL": ".2"},
			func(s *Settings) bool { return s.Sessions.ProgressFlush == 200*time.Millisecond }},
		{Env{"MCPBASH_PROGRESS_FLUSH_INTERVAL": "soon"},
			func(s *Settings) bool { return s.Sessions.ProgressFlush == 50*time.Millisecond }},
		{Env{"MCPBASH_SHUTDOWN_TIMEOUT": "0"}, func(s *Settings) bool { return s.Sessions.Shutdown == 5*time.Second }},
		{Env{"MCPBASH_IDLE_TIMEOUT": "0"}, func(s *Settings) bool { return s.Sessions.Idle == 0 }},
		{Env{"MCPBASH_IDLE_TIMEOUT_ENABLED": "false"}, func(s *Settings) bool { return s.Sessions.Idle == 0 }},
		{Env{"MCPBASH_IDLE_TIMEOUT": "99999999999999999999"},
			func(s *Settings) bool { return s.Sessions.Idle > 24*time.Hour }},
		{Env{"MCPBASH_ORPHAN_CHECK_ENABLED": "false"}, func(s *Settings) bool { return s.Sessions.OrphanCheck == 0 }},
		{Env{"MCPBASH_REMOTE_TOKEN_FALLBACK_KEY": ""}, func(s *Settings) bool { return s.Token.Fallback == "" }},
		{Env{"MCPBASH_REMOTE_TOKEN_KEY": ""}, func(s *Settings) bool { return s.Token.Key == "mcpbash/remoteToken" }},
		{Env{"MCPBASH_TOOL_ALLOWLIST": "a, b\n\tc,,"}, func(s *Settings) bool {
			return strings.Join(s.Calls.Allowlist,
				"|") == "a|b|c"
		}},
		{Env{"MCPBASH_TOOL_ALLOW_DEFAULT": "all"}, func(s *Settings) bool { return s.Calls.AllowDefault }},
		{Env{"MCPBASH_TOOL_ALLOW_DEFAULT": "all", "MCPBASH_TOOL_ALLOWLIST": " ,"}, func(s *Settings) bool {
			return !s.Calls.AllowDefault && len(s.Calls.Allowlist) == 0 // T-21
		}},
		{Env{"MCPBASH_ENV_PAYLOAD_THRESHOLD": "999999"},
			func(s *Settings) bool { return s.Calls.PayloadInline == 120000 }},
		{Env{"MCPBASH_ENV_PAYLOAD_THRESHOLD": "0"}, func(s *Settings) bool { return s.Calls.PayloadInline == 0 }},
		{Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "100"}, func(s *Settings) bool {
			return s.Limits.Response == 100 && s.Calls.MaxStdout == 100 && s.Calls.MaxStderr == 100 &&
				s.MaxResource == 100
		}},
		{Env{"MCPBASH_MAX_TOOL_STDERR_SIZE": "0"}, func(s *Settings) bool { return s.Calls.MaxStderr == 10<<20 }},
		{Env{"MCPBASH_TOOL_STDERR_CAPTURE": "off"}, func(s *Settings) bool {
			return !s.Calls.StderrCapture &&
				s.Calls.TimeoutCapture
		}},
		{Env{"MCPBASH_DEFAULT_TOOL_TIMEOUT": "0"}, func(s *Settings) bool { return s.Calls.Timeout == 0 }},
		{Env{"MCPBASH_JSON_TOOL": "none"}, func(s *Settings) bool { return s.Minimal && !s.Forced }},
		{Env{"MCPBASH_JSON_TOOL": "none", "MCPBASH_JSON_TOOL_BIN": "rel/jq"},
			func(s *Settings) bool { return !s.Minimal }},
		{Env{"MCPBASH_FORCE_MINIMAL": "true"}, func(s *Settings) bool { return s.Minimal && s.Forced }},
		{Env{"MCPBASH_FORCE_MINIMAL": "TRUE"}, func(s *Settings) bool { return !s.Minimal }},
		{Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "Yes"}, func(s *Settings) bool { return s.Discovery.Hooks }},
		{Env{"MCPBASH_STATIC_REGISTRY": "true"}, func(s *Settings) bool { return !s.Discovery.Static }},
		{Env{"MCP_TOOLS_TTL": "-1"}, func(s *Settings) bool { return s.Discovery.ToolsTTL == 5*time.Second }},
		{Env{"MCP_TOOLS_TTL": "0"}, func(s *Settings) bool { return s.Discovery.ToolsTTL == 0 }},
		{Env{"MCPBASH_REGISTER_TTL": "0"}, func(s *Settings) bool { return s.Discovery.RegisterTTL == 5*time.Second }},
		{Env{"MCPBASH_DEBUG_ERRORS": "anything"}, func(s *Settings) bool { return s.Logging.DebugErrors }},
		{Env{"MCPBASH_TMP_ROOT": "/x/"}, func(s *Settings) bool { return s.TmpRoot == "/x" }},
		{Env{"TMPDIR": "/y"}, func(s *Settings) bool { return s.TmpRoot == "/y" }},
	} {
		s := ReadSettings(tc.env, Dirs{Server: "/none"})
		if !tc.check(&s) {
			t.Errorf("%v: %+v", tc.env, s)
		}
	}
}

// P-303.
func TestCIMode(t *testing.T) {
	tmp := t.TempDir()
	env := Env{"MCPBASH_CI_MODE": "true", "RUNNER_TEMP": tmp, "MCPBASH_ORPHAN_CHECK_ENABLED": "true"}
	s := ReadSettings(env, Dirs{Server: "/none"})
	if !s.CI || !s.KeepLogs || !s.Logging.Timestamp || s.Logging.Level != mcp.Info || s.Sessions.Idle != 0 ||
		s.Sessions.OrphanCheck != 0 ||
		s.TmpRoot != tmp || !strings.HasPrefix(s.Logging.Dir, tmp+"/mcpbash.logs.") {
		t.Errorf("%+v", s)
	}
	env = Env{"MCPBASH_CI_MODE": "true", "MCPBASH_CI_VERBOSE": "true", "MCPBASH_KEEP_LOGS": "false", "TMPDIR": tmp,
		"MCPBASH_LOG_DIR": "/l"}
	if s := ReadSettings(env, Dirs{Server: "/none"}); s.KeepLogs || s.Logging.Level != mcp.Debug ||
		s.Logging.Dir != "/l" {
		t.Errorf("%+v", s)
	}
}

// P-200 to P-204.
func TestMeta(t *testing.T) {
	root := place(t, map[string]string{
		"my-cool_srv/server.d/server.meta.json": `{"name":"","version":2.10,"title":"T","description":"d",` +
			`"websiteUrl":"https://x","icons":[{"src":"https://x/i.svg"}],"validateInput":true,"securityLevel":"standard",` +
			`"other":[1]}`,
		"my-cool_srv/server.d/server.instructions.md": "\ufeffLine1\n\tLine \"2\"\\n\n\n",
		"bad/server.d/server.meta.json":               "{\n \"name\": \n}",
		"types/server.d/server.meta.json":             `{"name":["x"],"title":null,"validateInput":"yes","icons":{}}`,
		"array/server.d/server.meta.json":             `[]`,
		"versioned/VERSION":                           "\ufeff 1. 2\n",
		"packaged/package.json":                       `{"version":"3.4"}`,
		"packaged/VERSION":                            "\n",
	})
	p, warnings := open(t, filepath.Join(root, "my-cool_srv"), nil)
	m := p.Meta
	if m.Name != "my-cool_srv" || m.Version != "2.10" || m.Title != "T" || m.Description != "d" ||
		m.WebsiteURL != "https://x" || !m.ValidateInput ||
		m.SecurityLevel != "standard" || string(m.Icons) != `[{"src":"https://x/i.svg"}]` ||
		m.Instructions != "Line1\n\tLine \"2\"\\n" || len(*warnings) != 0 {
		t.Errorf("%+v %v", m, *warnings)
	}
	for name, want := range map[string]string{
		"bad": "mcp-bash: ignoring server.d/server.meta.json: line 3, column 1: a value expected|" +
			"mcp-bash: server.meta.json env: server.meta.json is not valid JSON",
		"array": "mcp-bash: ignoring server.d/server.meta.json: not a JSON object",
	} {
		if _, warnings := open(t, filepath.Join(root, name), nil); strings.Join(*warnings, "|") != want {
			t.Errorf("%s: %q", name, *warnings)
		}
	}
	p, warnings = open(t, filepath.Join(root, "types"), nil)
	if p.Meta.Name != "types" || p.Meta.Title != "Types" || p.Meta.ValidateInput || len(*warnings) != 3 {
		t.Errorf("%+v %q", p.Meta, *warnings)
	}
	for name, want := range map[string]string{"versioned": "1.2", "packaged": "3.4", "bad": "0.0.0"} {
		if p, _ := open(t, filepath.Join(root, name), nil); p.Meta.Version != want {
			t.Errorf("%s: version %q", name, p.Meta.Version)
		}
	}
	if got := Title("my-cool_server"); got != "My Cool Server" {
		t.Error(got)
	}
}

// P-206.
func TestIcons(t *testing.T) {
	root := place(t, map[string]string{
		"server.d/i.svg": "<svg/>", "pic.PNG": "png", "big.gif": strings.Repeat("x", maxIcon+1),
		"full.gif": strings.Repeat("x", maxIcon),
	})
	outside := place(t, map[string]string{"secret.png": "secret"})
	p := &Project{Root: root}
	os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(root, "link.png"))
	os.Symlink("pic.PNG", filepath.Join(root, "inner.png"))
	exec.Command("mkfifo", filepath.Join(root, "fifo.png")).Run()
	data := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for in, want := range map[string]string{
		`[{"src":"i.svg","sizes":["any"]}]`: `[{"src":"data:image/svg+xml;base64,` + data("<svg/>") +
			`","sizes":["any"],"mimeType":"image/svg+xml"}]`,
		`[{"src":"./pic.PNG","mimeType":"x/y"}]`: `[{"src":"data:x/y;base64,` + data("png") +
			`","mimeType":"x/y"}]`,
		`[{"src":"inner.png"}]`: `[{"src":"data:image/png;base64,` + data("png") +
			`","mimeType":"image/png"}]`,
		`[{"src":"HTTP://x"},{"src":"data:,x"},7,{"a":1}]`:    `[{"src":"HTTP://x"},{"src":"data:,x"}]`,
		`[{"src":"big.gif"}]`:                                 ``,
		`[{"src":"link.png"},{"src":"none.png"}]`:             ``,
		`[{"src":"` + outside + `/secret.png"}]`:              ``,
		`[{"src":"../` + filepath.Base(outside) + `/x.png"}]`: ``,
		`[{"src":"fifo.png"},{"src":"server.d"}]`:             ``,
	} {
		var warnings []string
		got := p.InlineIcons(rawjson.Normal([]byte(in)), []string{filepath.Join(root, "server.d"), root}, nil,
			func(s string) { warnings = append(warnings, s) })
		if string(got) != want {
			t.Errorf("%s: %s", in, got)
		}
		if want == "" && len(warnings) == 0 {
			t.Errorf("%s: no warning", in)
		}
	}
	// An absolute path in the project is reported relative to it.
	var warnings []string
	p.InlineIcons([]byte(`[{"src":"`+p.Root+`/icons/passwd.png"}]`), []string{root}, nil,
		func(s string) { warnings = append(warnings, s) })
	if len(warnings) != 1 || warnings[0] != "icon icons/passwd.png: no such file" ||
		secrets.Text(warnings[0]) != warnings[0] {
		t.Errorf("%q", warnings)
	}
	if got := p.InlineIcons([]byte(`[{"src":"full.gif"}]`), []string{root}, nil,
		func(s string) { t.Error(s) }); len(got) < maxIcon {
		t.Error("an icon of the full size is dropped")
	}
}

// P-102, README decision 8.
func TestFindHome(t *testing.T) {
	cache := t.TempDir()
	tree := Tree{"sdk/tool-sdk.sh": []byte("echo sdk"), "lib/path.sh": []byte("x"), "VERSION": []byte("2\n")}
	embedded := func() Tree { return tree }
	env := Env{"XDG_CACHE_HOME": cache, "MCPBASH_HOME": "/no/such/tree"}
	var warnings []string
	warn := func(s string) { warnings = append(warnings, s) }
	found, err := FindHome(env, embedded, warn)
	if err != nil || !strings.HasPrefix(found.Dir, filepath.Join(cache, "mcp-bash")+"/") {
		t.Fatal(found, err)
	}
	home := found.Dir
	if exists(home) {
		t.Error("it is unpacked before it is needed")
	}
	if len(warnings) != 1 || warnings[0] != "mcp-bash: MCPBASH_HOME has no sdk/tool-sdk.sh; ignoring /no/such/tree" {
		t.Errorf("%q", warnings)
	}
	delete(env, "MCPBASH_HOME")
	sdk := filepath.Join(home, "sdk", "tool-sdk.sh")
	for _, damage := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(sdk, []byte("evil"), 0o600) },
		func() error { return os.Remove(sdk) },
		func() error { return os.Chmod(home, 0o777) },
		func() error { os.RemoveAll(home); return os.Symlink("/tmp", home) },
		func() error { return nil },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		again, err := FindHome(env, embedded, warn)
		if err != nil || again.Dir != home {
			t.Fatal(again, err)
		}
		if err := again.Make(); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(sdk)
		info, _ := os.Lstat(home)
		if string(got) != "echo sdk" || info.Mode().Perm() != 0o700 || !info.IsDir() {
			t.Errorf("not mended: %q, %v", got, info.Mode())
		}
	}
	left, _ := os.ReadDir(filepath.Join(cache, "mcp-bash"))
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	// A tree next to the binary or in the environment takes precedence. Nothing is unpacked.
	own := place(t, map[string]string{"sdk/tool-sdk.sh": ""})
	if got, err := FindHome(Env{"MCPBASH_HOME": own}, nil, warn); err != nil || got.Dir != own || got.Make() != nil {
		t.Error(got, err)
	}
	// No cache: the temporary area does.
	tmp := t.TempDir()
	os.WriteFile(filepath.Join(tmp, "file"), nil, 0o600)
	got, err := FindHome(Env{"HOME": filepath.Join(tmp, "file"), "TMPDIR": tmp}, embedded, warn)
	if err != nil || !strings.HasPrefix(got.Dir, tmp+"/") || got.Make() != nil {
		t.Error(got, err)
	}
	if _, err := FindHome(Env{"HOME": filepath.Join(tmp, "file"), "TMPDIR": filepath.Join(tmp, "file")}, embedded,
		warn); err == nil || !strings.HasPrefix(err.Error(), "mcp-bash install looks broken: expected ") {
		t.Error(err)
	}
}

// P-111.
func TestSelectJSONTool(t *testing.T) {
	bin := place(t, map[string]string{"jq": "", "gojq": "", "mine": "", "gojq-2": ""})
	only := place(t, map[string]string{"gojq": ""})
	for _, dir := range []string{bin, only} {
		list, _ := os.ReadDir(dir)
		for _, e := range list {
			os.Chmod(filepath.Join(dir, e.Name()), 0o755)
		}
	}
	for _, tc := range []struct {
		name  string
		env   Env
		root  bool
		works bool
		want  JSONTool
		warns int
	}{
		{"jq first", Env{"PATH": bin}, false, true, JSONTool{"jq", bin + "/jq"}, 0},
		{"then gojq", Env{"PATH": only}, false, true, JSONTool{"gojq", only + "/gojq"}, 0},
		{"then our own", Env{"PATH": "/none"}, false, true, JSONTool{"jq", "/own"}, 0},
		{"override by name", Env{"PATH": bin, "MCPBASH_JSON_TOOL": "gojq"}, false, true,
			JSONTool{"gojq", bin + "/gojq"}, 0},
		{"override by path", Env{"PATH": bin, "MCPBASH_JSON_TOOL_BIN": bin + "/mine"}, false, true,
			JSONTool{"jq", bin + "/mine"}, 0},
		{"name inferred", Env{"PATH": bin, "MCPBASH_JSON_TOOL_BIN": bin + "/gojq-2"}, false, true,
			JSONTool{"gojq", bin + "/gojq-2"}, 0},
		{"relative path", Env{"PATH": bin, "MCPBASH_JSON_TOOL": "gojq", "MCPBASH_JSON_TOOL_BIN": "./mine"}, false, true,
			JSONTool{"jq", bin + "/jq"}, 0},
		{"does not work", Env{"PATH": bin, "MCPBASH_JSON_TOOL_BIN": bin + "/mine"}, false, false,
			JSONTool{"jq", bin + "/jq"}, 0},
		{"as root", Env{"PATH": bin, "MCPBASH_JSON_TOOL": "gojq"}, true, true, JSONTool{"jq", bin + "/jq"}, 1},
		{"as root, allowed", Env{"PATH": bin, "MCPBASH_JSON_TOOL": "gojq",
			"MCPBASH_ALLOW_JSON_TOOL_OVERRIDE_FOR_ROOT": "true"}, true, true, JSONTool{"gojq", bin + "/gojq"}, 0},
	} {
		warns := 0
		got := SelectJSONTool(tc.env, tc.root, "/own", func(string) bool { return tc.works }, func(string) { warns++ })
		if got != tc.want || warns != tc.warns {
			t.Errorf("%s: %+v, %d warnings", tc.name, got, warns)
		}
	}
}

// P-300, P-302, P-905: a state directory goes with its owner, or with
// the next start.
func TestState(t *testing.T) {
	tmp := t.TempDir()
	s := ReadSettings(Env{"TMPDIR": tmp}, Dirs{Server: "/none"})
	st, _, err := NewState(Env{"TMPDIR": tmp}, &s)
	if err != nil {
		t.Fatal(err)
	}
	if exists(st.Dir) {
		t.Error("it is made before it is needed")
	}
	if err := st.Make(); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(st.Dir); info.Mode().Perm() != 0o700 || !strings.HasPrefix(st.Dir, tmp+"/mcpbash.state.") {
		t.Error(st.Dir, info.Mode())
	}
	bootstrap, err := MakeBootstrapDir(Env{"TMPDIR": tmp})
	if err != nil {
		t.Fatal(err)
	}
	exe, _ := os.Executable()
	if got, _ := os.Readlink(st.Helper()); got != exe {
		t.Errorf("helper is %s", got)
	}
	CleanTmp(tmp)
	if !exists(st.Dir) || !exists(bootstrap.Path) {
		t.Fatal("the directory of a living owner was removed")
	}
	st.Release() // as if killed
	bootstrap.Release()
	keep, _, _ := NewState(Env{"TMPDIR": tmp}, &s)
	keep.Make()
	keep.Preserve()
	keep.Release()
	CleanTmp(tmp)
	if exists(st.Dir) || exists(bootstrap.Path) {
		t.Error("a dead owner's directories are still there")
	}
	if !exists(keep.Dir) {
		t.Error("a preserved directory was removed")
	}
	own := filepath.Join(tmp, "own")
	given, _, err := NewState(Env{"MCPBASH_STATE_DIR": own}, &s)
	if err != nil {
		t.Fatal(err)
	}
	given.Remove()
	if !exists(own) {
		t.Error("a directory that was given was removed")
	}
	blocked := filepath.Join(tmp, "blocked")
	os.WriteFile(blocked, nil, 0o600)
	_, dir, err := NewState(Env{"MCPBASH_STATE_DIR": blocked + "/x"}, &s)
	if _, ok := errors.AsType[*NoStateError](err); !ok || dir != blocked+"/x" {
		t.Error(dir, err)
	}
}

// P-113, T-61, CLI-806.
func TestSource(t *testing.T) {
	dir := place(t, map[string]string{
		"env.sh": "echo noise; export A='1\n2' B=; C=secret D= U=u; unset GONE; " +
			"MCPBASH_TOOL_ENV_ALLOWLIST='C, D bad-name'; export MCPBASH_TOOL_ENV_ALLOWLIST",
		"next.sh": `export A="$A!" ; echo "$PWD" >&2`,
		"exit.sh": "export E=1; exit 0",
		"bad.sh":  "if", "fail.sh": "false",
	})
	file := func(name string) string { return filepath.Join(dir, name) }
	env := Env{"PATH": os.Getenv("PATH"), "GONE": "x", "SHLVL": "9", "KEEP": "k", "MCP_REGISTRY_TOKEN": "r"}
	p := &Project{Root: dir, Env: env}
	p.Scripts.Tools.Names = []string{"U"} // of server.meta.json
	got, stderr, err := p.Source(context.Background(), new(script.Runner), chosen(file("env.sh")), chosen(file("next.sh")))
	if err != nil {
		t.Fatal(err, stderr)
	}
	if _, ok := got["GONE"]; got["A"] != "1\n2!" || got["C"] != "secret" || got["KEEP"] != "k" || got["SHLVL"] != "9" ||
		ok {
		t.Errorf("%q", got)
	}
	if got["U"] != "u" || got["MCP_REGISTRY_TOKEN"] != "r" {
		t.Errorf("%q: without what the project lists, or without the token", got)
	}
	if _, ok := got["D"]; ok {
		t.Error("an empty unexported variable is passed")
	}
	if strings.TrimSpace(stderr) != dir {
		t.Errorf("ran in %q", stderr)
	}
	if got, _, err := p.Source(context.Background(), new(script.Runner), chosen(file("exit.sh"))); err != nil ||
		got["E"] != "1" {
		t.Error(got, err)
	}
	for _, name := range []string{"bad.sh", "fail.sh", "none.sh"} {
		_, stderr, err := p.Source(context.Background(), new(script.Runner), chosen(file(name)))
		var failed *SourceError
		if !errors.As(err, &failed) || failed.Status == 0 || name != "fail.sh" && stderr == "" {
			t.Errorf("%s: %v, %q", name, err, stderr)
		}
	}
	adopted := Adopt(Env{"X": "1", "MCPBASH_HOME": "h"}, Env{"X": "2", "Y": "3", "MCPBASH_HOME": "evil",
		"MCPBASH_TOOLS_DIR": "evil"})
	if adopted["X"] != "2" || adopted["Y"] != "3" || adopted["MCPBASH_HOME"] != "h" ||
		adopted["MCPBASH_TOOLS_DIR"] != "" {
		t.Errorf("%q", adopted)
	}
}

// T-60 to T-63, E-3.
func TestToolBase(t *testing.T) {
	env := Env{"HOME": "/h", "LANG": "de\r", "MCP_X": "1", "MCP_TOOL_X": "t", "MCPBASH_Y": "2", "SECRET": "s",
		"LISTED":             "l",
		"MCP_REGISTRY_TOKEN": "r", "MCPBASH_REMOTE_TOKEN": "t", "MCPBASH_REMOTE_TOKEN_KEY": "k", "WINDIR": "w"}
	const list = "LISTED,UNSET,MCP_X,MCP_REGISTRY_TOKEN,MCPBASH_REMOTE_TOKEN"
	for _, tc := range []struct {
		mode string
		want string
	}{
		{"", "HOME=/h LANG=de MCPBASH_Y=2 MCP_TOOL_X=t PATH=/usr/bin:/bin SHELL={bash} TMPDIR=/tmp WINDIR=w"},
		{"allowlist", "HOME=/h LANG=de LISTED=l MCPBASH_TOOL_ENV_ALLOWLIST=" + list + " MCPBASH_TOOL_ENV_MODE=allowlist " +
			"MCPBASH_Y=2 MCP_REGISTRY_TOKEN=r MCP_TOOL_X=t MCP_X=1 PATH=/usr/bin:/bin SHELL={bash} TMPDIR=/tmp WINDIR=w"},
		{"inherit", "HOME=/h LANG=de LISTED=l MCPBASH_TOOL_ENV_INHERIT_ALLOW=true MCPBASH_TOOL_ENV_MODE=inherit " +
			"MCPBASH_Y=2 MCP_TOOL_X=t MCP_X=1 SECRET=s WINDIR=w"},
	} {
		e := env.Clone()
		if tc.mode != "" {
			e["MCPBASH_TOOL_ENV_MODE"] = tc.mode
		}
		if tc.mode == "allowlist" {
			e["MCPBASH_TOOL_ENV_ALLOWLIST"] = list
		}
		if tc.mode == "inherit" {
			e["MCPBASH_TOOL_ENV_INHERIT_ALLOW"] = "true"
		}
		p, _ := open(t, place(t, nil), e)
		want := strings.ReplaceAll(tc.want, "{bash}", script.LookPath("bash", "/usr/bin:/bin"))
		if got := strings.Join(p.ToolBase(&p.Scripts.Tools).ScriptEntries(), " "); got != want {
			t.Errorf("%s: %s", tc.mode, got)
		}
	}
}

// T-621, E-4, P-2304.
func TestProviderBase(t *testing.T) {
	env := Env{
		"LANG": "de\r", "LC_TIME": "fr", "TMPDIR": "/t", "MCP_X": "1", "MCPBASH_Y": "2", "MCPBASH_GIT_TIMEOUT": "3",
		"MCP_ROOTS_JSON": "[]", "MCP_REGISTRY_TOKEN": "r", "WINDIR": "w",
		"https_proxy": "p",
		"SECRET":      "s", "LISTED": "l", "SSH_AUTH_SOCK": "a", "MCPBASH_REMOTE_TOKEN": "t",
		"MCPBASH_PROMPTS_DIR": "p",
		"MCPBASH_HOME":        "stale",
	}
	common := Env{"MCPBASH_HOME": "/home", "MCP_SDK": "/home/sdk", "MCPBASH_MODE": "full"}
	root := place(t, nil)
	const isolated = "HOME={} LANG=de LC_ALL=de LC_TIME=fr MCPBASH_GIT_TIMEOUT=3 MCPBASH_HOME=/home MCPBASH_MODE=full " +
		"MCPBASH_PROMPTS_DIR={}/p MCPBASH_RESOURCES_DIR={}/resources MCP_ROOTS_JSON=[] MCP_SDK=/home/sdk " +
		"PATH=/usr/bin:/bin TEMP=/t TMP=/t TMPDIR=/t WINDIR=w https_proxy=p"
	listed := strings.NewReplacer("LC_TIME=fr", "LC_TIME=fr LISTED=l", "MCP_ROOTS", "MCP_REGISTRY_TOKEN=r MCP_ROOTS",
		"sdk PATH", "sdk MCP_X=1 PATH").Replace(isolated)
	const inherited = "LANG=de LC_TIME=fr LISTED=l MCPBASH_GIT_TIMEOUT=3 MCPBASH_HOME=/home MCPBASH_MODE=full " +
		"MCPBASH_PROMPTS_DIR={}/p MCPBASH_RESOURCES_DIR={}/resources MCPBASH_Y=2 MCP_ROOTS_JSON=[] MCP_SDK=/home/sdk " +
		"MCP_X=1 SECRET=s SSH_AUTH_SOCK=a TMPDIR=/t WINDIR=w https_proxy=p"
	for _, tc := range []struct{ mode, allow, want string }{
		{"", "", isolated}, {"nonsense", "", isolated}, {"Allowlist", "", listed},
		{"inherit", "", isolated}, {"inherit", "yes", isolated}, {"inherit", "true", inherited},
	} {
		e := env.Clone()
		e["MCPBASH_PROVIDER_ENV_MODE"], e["MCPBASH_PROVIDER_ENV_ALLOWLIST"],
			e["MCPBASH_PROVIDER_ENV_INHERIT_ALLOW"] = tc.mode,
			"LISTED, UNSET MCP_X,MCP_REGISTRY_TOKEN, MCPBASH_REMOTE_TOKEN", tc.allow
		p, _ := open(t, root, e)
		base := p.ProviderBase(common)
		for name := range base {
			if strings.HasPrefix(name, "MCPBASH_PROVIDER_ENV_") && p.Scripts.Providers.Inherits() {
				delete(base, name)
			}
		}
		if got := strings.ReplaceAll(strings.Join(base.ScriptEntries(), " "), root, "{}"); got != tc.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.mode, tc.allow, got, tc.want)
		}
	}
	p, _ := open(t, root, env)
	if got := p.ProviderBase(common, "SSH_AUTH_SOCK"); got["SSH_AUTH_SOCK"] != "a" || got["SECRET"] != "" {
		t.Errorf("%q", got)
	}
}

// E-7: a file that others could have written names no variables.
func TestInsecureMetaEnv(t *testing.T) {
	root := place(t, map[string]string{Marker: `{"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist",` +
		`"MCPBASH_TOOL_ENV_ALLOWLIST":"SECRET","X":"y"}}`})
	for mode, want := range map[os.FileMode]scriptenv.Source{0o644: scriptenv.FromMeta, 0o646: scriptenv.FromDefault} {
		os.Chmod(filepath.Join(root, Marker), mode)
		p, warnings := open(t, root, Env{"SECRET": "s"})
		if got := p.Scripts.Tools.Source; got != want || len(*warnings) != 1 {
			t.Errorf("%o: %s, %q", mode, got, *warnings)
		}
		if _, passes := p.ToolBase(&p.Scripts.Tools)["SECRET"]; passes != (want == scriptenv.FromMeta) {
			t.Errorf("%o: SECRET passes: %t", mode, passes)
		}
	}
}

// P-205: one list of variables reaches every sort of script, in every
// mode, and no inherited value does.
func TestCommonReachesAll(t *testing.T) {
	p, _ := open(t, place(t, nil), Env{"MCPBASH_SERVER_NAME": "stale", "MCPBASH_TRANSPORT": "stale",
		"MCPBASH_LOG_LEVEL": "notice"})
	common := p.Common("/home", "/helper", JSONTool{Name: "jq", Bin: "/jq"})
	for _, name := range strings.Fields("MCPBASH_HOME MCP_SDK MCPBASH_HELPER_BIN MCPBASH_JSON_TOOL " +
		"MCPBASH_JSON_TOOL_BIN MCPBASH_MODE MCPBASH_PROJECT_ROOT MCPBASH_FRAMEWORK_VERSION MCPBASH_TRANSPORT " +
		"MCPBASH_TRANSPORT_STDIO MCPBASH_SERVER_ARGS_JSON MCPBASH_SERVER_NAME MCPBASH_SERVER_VERSION MCPBASH_SERVER_TITLE " +
		"MCPBASH_SERVER_DESCRIPTION MCPBASH_SERVER_WEBSITE_URL MCPBASH_SERVER_ICONS MCPBASH_SERVER_INSTRUCTIONS " +
		"MCPBASH_LOG_LEVEL") {
		if _, given := common[name]; !given {
			t.Errorf("%s is missing", name)
		}
	}
	for sort, env := range map[string]Env{"hooks": p.ForHooks(common, "/state"), "providers": p.ProviderBase(common)} {
		for name, value := range common {
			if got, given := env[name]; !given || got != value {
				t.Errorf("%s: %s=%q, want %q", sort, name, got, value)
			}
		}
	}
}

// P-300: a directory that cannot be made is made by the next call, and
// so is one that was lost, with everything in it.
func TestStateRecovers(t *testing.T) {
	base := t.TempDir()
	state := &State{Dir: filepath.Join(base, "state"), Program: self(), ours: true}
	if err := os.WriteFile(state.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := state.Make(); err == nil || !strings.Contains(err.Error(), state.Dir) {
		t.Fatalf("a file in its place: %v", err)
	}
	os.Remove(state.Dir)
	state.Put("text", "kept")
	complete := func(when string) {
		t.Helper()
		if err := state.Make(); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if text, _ := os.ReadFile(filepath.Join(state.Dir, "text")); string(text) != "kept" || !exists(state.Helper()) {
			t.Errorf("%s: %q", when, text)
		}
	}
	complete("after a failure")
	os.RemoveAll(state.Dir)
	complete("after a loss")
	os.RemoveAll(filepath.Dir(state.Helper()))
	complete("after a loss of what is in it")
	os.Rename(state.Dir, state.Dir+".moved")
	os.Symlink(base, state.Dir)
	if err := state.Make(); err == nil {
		t.Error("a link in its place was followed")
	}
	state.Remove()
	if list, _ := os.ReadDir(base); len(list) != 2 {
		t.Errorf("%q", list)
	}
	os.Remove(state.Dir)
	if err := state.Make(); !errors.Is(err, os.ErrClosed) || exists(state.Dir) {
		t.Errorf("made after the end: %v", err)
	}
}

// P-302: a claim that a cleaner of temporary files removed is made again, so that another start leaves
// the directory alone.
func TestClaimRecovers(t *testing.T) {
	tmp := t.TempDir()
	state := &State{Dir: filepath.Join(tmp, statePrefix+"x"), ours: true}
	defer state.Remove()
	if err := state.Make(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-24 * time.Hour)
	if err := errors.Join(os.Remove(filepath.Join(state.Dir, claimFile)), os.Chtimes(state.Dir, old, old)); err != nil {
		t.Fatal(err)
	}
	state.claimed = old
	if err := state.Make(); err != nil {
		t.Fatal(err)
	}
	os.Chtimes(state.Dir, old, old)
	if CleanTmp(tmp); !exists(state.Dir) {
		t.Error("the directory of a living owner was removed")
	}
}

// P-102: the same for the tree that scripts are given.
func TestHomeRecovers(t *testing.T) {
	cache := t.TempDir()
	home, err := FindHome(Env{"XDG_CACHE_HOME": cache}, func() Tree { return Tree{sdkFile: []byte("sdk")} },
		func(s string) { t.Error(s) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(){func() {}, func() { os.RemoveAll(home.Dir) },
		func() { os.RemoveAll(filepath.Dir(home.Dir)) }} {
		damage()
		if err := home.Make(); err != nil || !isTree(home.Dir) {
			t.Errorf("%v", err)
		}
	}
}

// P-102: a single file of the SDK that got lost, as one in a temporary
// area may that nobody reads for long.
func TestHomeRecoversOneFile(t *testing.T) {
	tree := Tree{sdkFile: []byte("sdk"), "sdk/json.sh": []byte("json")}
	home, err := FindHome(Env{"XDG_CACHE_HOME": t.TempDir()}, func() Tree { return tree },
		func(s string) { t.Error(s) })
	if err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(home.Dir, "sdk", "json.sh")
	past := time.Now().Add(-time.Hour) // so that clocks with a coarse grain show the change
	for _, step := range []func() error{
		home.Make,
		func() error { return os.Chtimes(filepath.Dir(lost), past, past) },
		home.Make,
		func() error { return os.Remove(lost) },
		home.Make,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(lost); string(got) != "json" {
		t.Error(string(got), err)
	}
}

// P-302: a start that looks while another is about to claim its directory
// leaves that alone, however the two take turns.
func TestCleaningWhileClaiming(t *testing.T) {
	tmp := t.TempDir()
	var cleaning sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		cleaning.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					CleanTmp(tmp)
				}
			}
		})
	}
	for i := range 200 {
		d, err := makeTempDir(filepath.Join(tmp, statePrefix+strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		if !d.isThere() {
			t.Fatal("the directory of a living owner is gone")
		}
		if i%2 == 0 {
			d.Remove()
		}
	}
	close(over)
	cleaning.Wait()
}

// CLI-1423: changes of a login profile before its failure count.
func TestSourceProfile(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "profile")
	text := "export BEFORE=1\nsource /dev/null/none\nfalse\nexport AFTER=2\nreturn 3\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Open(root, Env{"PATH": os.Getenv("PATH")}, root, func(string) {})
	got, _, err := p.SourceProfile(context.Background(), new(script.Runner), chosen(file))
	if err != nil || got["BEFORE"] != "1" || got["AFTER"] != "2" {
		t.Errorf("%v, %v", got, err)
	}
	var failed *SourceError
	if _, _, err := p.Source(context.Background(), new(script.Runner), chosen(file)); !errors.As(err, &failed) ||
		failed.Status != 3 {
		t.Errorf("%v", err)
	}
}

// RES-175: the values of a template that another process was given are stale.
func TestNoInheritedTemplate(t *testing.T) {
	t.Setenv(TemplateName, "stale")
	t.Setenv(TemplateVars, "{}")
	env := OSEnv()
	for _, name := range []string{TemplateName, TemplateVars} {
		if value, set := env[name]; set {
			t.Errorf("%s=%s", name, value)
		}
	}
}

// E-12: settings that are paths.
func TestPathSettings(t *testing.T) {
	t.Setenv("HOME", "/h")
	t.Setenv("MCPBASH_TOOLS_DIR", "~/tools")
	t.Setenv("MCPBASH_LOG_DIR", "file:///a%20b")
	t.Setenv("MCPBASH_HTTP_TOKEN_FILE", "./~/x")
	env := OSEnv()
	for name, want := range map[string]string{
		"MCPBASH_TOOLS_DIR": "/h/tools", "MCPBASH_LOG_DIR": "/a b", "MCPBASH_HTTP_TOKEN_FILE": "./~/x",
	} {
		if env[name] != want {
			t.Errorf("%s=%s", name, env[name])
		}
	}
	for value, want := range map[string]string{
		"~bob/tools": "mcp-bash: MCPBASH_TOOLS_DIR: ~bob is not expanded; write the whole path, or ./~bob for a file of " +
			"that name",
		"https://h": "mcp-bash: MCPBASH_TOOLS_DIR: https://h is a URL, not a path",
	} {
		t.Setenv("MCPBASH_TOOLS_DIR", value)
		if root, err := FindRoot(OSEnv(), t.TempDir(), "/"); err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", value, root, err)
		}
	}
}

// P-309: a directory that somebody can exchange by changing a link is refused.
func TestLinkedDirectories(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(base, "dangling")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	for _, name := range []string{"MCPBASH_STATE_DIR", "MCPBASH_LOCK_ROOT", "MCPBASH_LOG_DIR"} {
		for _, dir := range []string{link, link + "/", "link", filepath.Join(base, "dangling")} {
			env := Env{name: dir, "MCPBASH_TMP_ROOT": base}
			s := ReadSettings(env, Dirs{})
			_, at, err := NewState(env, &s)
			want := "mcp-bash: " + name + " is a symlink; set it to the directory that the link leads to"
			if err == nil || err.Error() != want || !filepath.IsAbs(at) {
				t.Errorf("P-309: %s=%s: %q, %v", name, dir, at, err)
			}
			env["TMPDIR"] = base
			if _, err := NewDebugState(env); err == nil {
				t.Errorf("P-309: %s=%s: debug starts", name, dir)
			}
		}
		for _, dir := range []string{filepath.Join(base, "real"), filepath.Join(link, "below")} {
			env := Env{name: dir, "MCPBASH_TMP_ROOT": link}
			s := ReadSettings(env, Dirs{})
			if _, _, err := NewState(env, &s); err != nil {
				t.Errorf("P-309: %s=%s: %v", name, dir, err)
			}
		}
	}
}
