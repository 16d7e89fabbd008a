package clients

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/test/checkout"
)

// besieged is a project with code of each kind, and with tools that run the code in their arguments, each
// within its declaration.
func besieged(t *testing.T, unprivileged bool) (project, outside string) {
	t.Helper()
	if confine.Offered().ABI < 3 {
		t.Skip("the kernel cannot confine files")
	}
	project, outside = checkout.Directory(t), checkout.Directory(t)
	const bash = "#!/usr/bin/env bash\n"
	const obedient = bash + `source "$MCP_SDK/tool-sdk.sh"
eval "$(mcp_args_require .code)" && echo done || echo failed` + "\n"
	for name, text := range map[string]string{
		"server.d/server.meta.json":    `{"name":"besieged"}`,
		"server.d/env.sh":              "TOKEN=the-secret\n",
		"server.d/register.json":       `{"version":1,"completions":[{"name":"listed","path":"code/link/complete.sh"}]}`,
		"prompts/haiku.txt":            "A haiku",
		"prompts/haiku.completion.sh":  bash + `echo '["mine"]'` + "\n",
		"resources/note.md":            "# Note\n",
		"scripts/complete.sh":          bash + `echo '["mine"]'` + "\n",
		"run-server.sh":                bash,
		"data/list":                    "x\n",
		"work/prog":                    bash + "echo started\n",
		"tools/edit/tool.sh":           obedient,
		"tools/edit/tool.meta.json":    `{"name":"edit","capabilities":["Edit"],"confine":{"exec":["ln","mkdir"]}}`,
		"tools/write/tool.sh":          obedient,
		"tools/write/tool.meta.json":   `{"name":"write","capabilities":[],"confine":{"write":["work"],"exec":["ln"]}}`,
		"tools/read/tool.sh":           obedient,
		"tools/read/tool.meta.json":    `{"name":"read","confine":{"read":["data/list"],"exec":["work/prog"]}}`,
		"tools/nothing/tool.sh":        obedient,
		"tools/nothing/tool.meta.json": `{"name":"nothing","capabilities":[]}`,
		"tools/plain/tool.sh":          "#!" + project + "/venv/bin/own\necho plain\n",
		"tools/broken/tool.sh":         bash + "echo ran\n",
		"tools/broken/tool.meta.json":  "{\"name\":\"broken\",\n\"confine\":[]}",
		"tools/nojson/tool.sh":         bash + "echo ran\n",
		"tools/nojson/tool.meta.json":  "{\"name\":\"nojson\",",
		"tools/headless/tool.sh":       bash + "# mcp: {\"capabilities\":[}\necho ran\n",
	} {
		if file := write(t, text, project, name); strings.HasPrefix(text, "#!") {
			os.Chmod(file, 0o755)
		}
	}
	write(t, "the-secret\n", outside, "file")
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.MkdirAll(project+"/venv/bin", 0o755), os.Symlink(shell, project+"/venv/bin/own"),
		os.Mkdir(project+"/code", 0o755), os.Symlink("../scripts", project+"/code/link"))
	if unprivileged && os.Geteuid() == 0 {
		err = errors.Join(err, filepath.WalkDir(project, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, 65534, 65534))
		}))
	}
	for dir := range map[string]bool{project: true, outside: true, filepath.Dir(project): true} {
		err = errors.Join(err, os.Chmod(dir, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	return project, outside
}

// asEachUser runs a test as the current user, and as an ordinary user too if that is root.
func asEachUser(t *testing.T, test func(t *testing.T, unprivileged bool)) {
	t.Run("as we are", func(t *testing.T) { t.Parallel(); test(t, false) })
	if os.Geteuid() == 0 {
		t.Run("as an ordinary user", func(t *testing.T) { t.Parallel(); test(t, true) })
	}
}

// output runs code in a tool and returns its output.
func (s *session) output(tool, code string) string {
	s.t.Helper()
	return text(s.t, s.call(tool, arguments{"code": code}))
}

// In a project that is the root of the call, a tool with Edit edits data, and neither makes nor changes
// code. Nothing of it runs later, nor after a restart (CF-14, CF-60).
func TestNothingRunsLater(t *testing.T) {
	t.Parallel()
	asEachUser(t, func(t *testing.T, unprivileged bool) {
		project, _ := besieged(t, unprivileged)
		s := open(t, project, opening{roots: []string{project}, unprivileged: unprivileged, env: map[string]string{}})
		if got := s.output("edit", `echo y >>data/list && echo z >data/new`); got != "done\n" {
			t.Errorf("a note cannot be edited: %s", got)
		}
		const evil = `'#!/bin/bash\necho \'["evil"]\'\n'`
		for _, c := range []struct{ code, file string }{
			{`printf %b $` + evil + ` >prompts/haiku.completion.sh`, "prompts/haiku.completion.sh"},
			{`printf %b $` + evil + ` >resources/note.completion.sh`, "resources/note.completion.sh"},
			{`printf %b $` + evil + ` >scripts/complete.sh`, "scripts/complete.sh"},
			{`mv scripts data/away`, "scripts"},
			{`rm code/link`, "code/link"},
			{`mv code data/away`, "code"},
			{`ln -sfn ../data code/link`, "code/link"},
			{`echo "echo evil" >mcpb.conf`, "mcpb.conf"},
			{`echo "echo evil" >>run-server.sh`, "run-server.sh"},
			{`mkdir data/p && mv data/p providers`, "providers"},
			{`mkdir .mcp-bash`, ".mcp-bash"},
			{`echo "{}" >.mcp.json`, ".mcp.json"},
			{`mkdir .vscode`, ".vscode"},
			{`echo evil >venv/pyvenv.cfg`, "venv/pyvenv.cfg"},
			{`ln -sf /bin/true venv/bin/own`, "venv/bin/own"},
			{`echo evil >>tools/plain/tool.sh`, "tools/plain/tool.sh"},
			{`echo evil >server.d/policy.sh`, "server.d/policy.sh"},
			{`echo evil >server.d/health-checks.sh`, "server.d/health-checks.sh"},
			{`echo "{}" >.registry/tools.json`, ".registry/tools.json"},
			{`echo "{}" >config/roots.json || mkdir config`, "config"},
			{`mkdir .git`, ".git"},
		} {
			before := look(t, project, c.file)
			if got := s.output("edit", c.code); got != "failed\n" {
				t.Errorf("%s: %s", c.code, got)
			}
			if after := look(t, project, c.file); after != before {
				t.Errorf("%s: %s was %q and is %q", c.code, c.file, before, after)
			}
		}
		for range 2 {
			for _, name := range []string{"haiku", "listed"} {
				r, err := s.Complete(s.deadline(), &mcp.CompleteParams{
					Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: name}, Argument: mcp.CompleteParamsArgument{Name: "a"},
				})
				if err != nil || compact(t, r.Completion.Values) != `["mine"]` {
					t.Errorf("%s: %v, %v", name, r, err)
				}
			}
			if got := text(t, s.succeed("plain", nil)); got != "plain\n" {
				t.Errorf("plain: %s", got)
			}
			s = open(t, project, opening{roots: []string{project}, unprivileged: unprivileged, env: map[string]string{}})
		}
	})
}

// look returns the text of a file, the target of a link, or that it is a directory.
func look(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "nothing"
	case err != nil:
		t.Fatal(err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "-> " + target
	case info.IsDir():
		return "a directory"
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// A link that one tool creates in the place of another tool's file leads nowhere, at the next call and after
// a restart. The log gives the reason (CF-17, CF-61).
func TestLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	asEachUser(t, func(t *testing.T, unprivileged bool) {
		project, outside := besieged(t, unprivileged)
		steal := `cat '` + outside + `/file' || { read -r line <'` + outside + `/file' && echo "$line"; }`
		for start := range 2 {
			s := open(t, project, opening{roots: []string{project}, unprivileged: unprivileged, env: map[string]string{}})
			s.setLevel("warning")
			if start == 0 {
				if got := s.output("edit", `rm data/list && ln -s '`+outside+`' data/list`); got != "done\n" {
					t.Errorf("edit: %s", got)
				}
				if got := s.output("write", `rm work/prog && ln -s / work/prog`); got != "done\n" {
					t.Errorf("write: %s", got)
				}
			}
			for range 2 {
				if got := s.output("read", steal); got != "failed\n" {
					t.Errorf("read: %s", got)
				}
			}
			const lead = "leads over a link in a folder that a tool writes to"
			for output := map[string]bool{}; len(output) < 2; {
				m := s.nextLog("mcp.tools")
				if line := compact(t, m.Data); strings.Contains(line, lead) {
					output[line] = true
				}
			}
		}
	})
}

// The server gives a tool nothing that the tool may not read (CF-62, T-231).
func TestServerIsNoDeputy(t *testing.T) {
	t.Parallel()
	asEachUser(t, func(t *testing.T, unprivileged bool) {
		project, _ := besieged(t, unprivileged)
		s := open(t, project, opening{roots: []string{project}, unprivileged: unprivileged, env: map[string]string{}})
		for _, c := range []struct {
			tool, file string
			embedded   bool
		}{
			{"nothing", "server.d/env.sh", false}, {"nothing", "data/list", false}, {"edit", "server.d/env.sh", false},
			{"edit", "data/list", true}, {"read", "data/list", true},
		} {
			got := compact(t, s.call(c.tool, arguments{"code": `echo '` + c.file + `' >"$MCP_TOOL_RESOURCES_FILE"`}))
			if strings.Contains(got, "the-secret") || strings.Contains(got, `"type":"resource"`) != c.embedded {
				t.Errorf("%s, %s: %s", c.tool, c.file, got)
			}
		}
	})
}

// A tool whose declaration cannot be read does not run, and the error names the place (CF-63, T-5b). With
// an unreadable restriction in server.meta.json no tool runs (P-200a, T-8a).
func TestBrokenDeclarations(t *testing.T) {
	t.Parallel()
	asEachUser(t, func(t *testing.T, unprivileged bool) {
		project, _ := besieged(t, unprivileged)
		s := open(t, project, opening{unprivileged: unprivileged, env: map[string]string{"MCPBASH_CONFINE": "off"}})
		for tool, want := range map[string]string{
			"broken":   `tools/broken/tool.meta.json:2:11: "confine" must be an object`,
			"nojson":   `tools/nojson/tool.meta.json:1:18: unexpected end`,
			"headless": `tools/headless/tool.sh:2:25: a value expected`,
		} {
			_, err := s.request(s.deadline(), tool, nil)
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) || rpc.Message != "Tool '"+tool+"' has an unreadable declaration" || reason(err) != want {
				t.Errorf("%s: %v, %s", tool, err, reason(err))
			}
		}
	})
	for text, want := range map[string]string{
		`{"name":"x","confine":"all",}`: "server.d/server.meta.json:1:29: a member name expected",
		`{"name":"x","Confine":"all"}`:  `server.d/server.meta.json:1:13: "Confine" is not known; did you mean confine?`,
	} {
		project, _ := besieged(t, false)
		write(t, text, project, "server.d/server.meta.json")
		s := open(t, project, opening{})
		_, err := s.request(s.deadline(), "plain", nil)
		if got := reason(err); got != want+"; correct it, then restart the server" {
			t.Errorf("%s: %v, %s", text, err, got)
		}
	}
}
