package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/bounds"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// announce reports the start to the operator on standard error.
func (s *process) announce() {
	p, notice, reduced := s.project, s.console.Notice, s.reduced
	if p.Minimal {
		if p.Forced {
			notice("Minimal mode forced via MCPBASH_FORCE_MINIMAL=true; JSON tooling disabled.")
		}
		notice("Operating in minimal mode: only lifecycle, ping, and logging handlers are exposed until JSON " +
			"tooling becomes available (JSON tooling needed).")
	}
	if p.Sessions.CompatBatches {
		notice("Legacy batch compatibility enabled (MCPBASH_COMPAT_BATCHES=true); requests framed as arrays " +
			"will be processed as independent items.")
	}
	if p.Token.Secret != "" && p.Logging.DebugPayloads {
		notice("mcp-bash: payload debug logging is enabled; remote tokens will be redacted in debug logs but " +
			"disable debug in production.")
	}
	if p.Logging.Level == mcp.Debug {
		notice("mcp-bash: Resolved paths:")
		for _, v := range [][2]string{
			{"MCPBASH_HOME", s.home.Dir}, {"MCPBASH_PROJECT_ROOT", p.Root}, {"MCPBASH_TOOLS_DIR", p.Tools},
			{"MCPBASH_RESOURCES_DIR", p.Resources}, {"MCPBASH_PROMPTS_DIR", p.Prompts},
			{"MCPBASH_SERVER_DIR", p.Dirs.Server},
			{"MCPBASH_PROVIDERS_DIR", p.Providers}, {"MCPBASH_REGISTRY_DIR", p.Registry},
		} {
			notice("  %s=%s", v[0], v[1])
		}
		if p.Logging.Marker {
			notice("  (debug enabled via server.d/.debug file)")
		}
		if len(s.Placeholders) > 0 {
			notice("mcp-bash: left out of the environment, since the client left a placeholder: %s",
				strings.Join(s.Placeholders, ", "))
		}
	}
	if p.Logging.Startup {
		exe, _ := os.Executable()
		tool := "none"
		if e := s.server.Engine; e != nil {
			tool = e.JSONTool.Name + ":" + e.JSONTool.Bin
		}
		transport := "stdio"
		if s.HTTP != nil {
			transport = "http"
		}
		notice("mcp-bash startup: transport=%s command=%s cwd=%s project_root=%s json_tool=%s", transport,
			shell.Quote(exe), shell.Quote(s.Dir), shell.Quote(p.Root), shell.Quote(tool))
	}
	if s.HTTP == nil && !p.Logging.Startup { // a single client rarely reaches the default limits
		reduced = slices.DeleteFunc(reduced, func(r bounds.Reduction) bool { return !r.Set })
	}
	for _, line := range bounds.Lines(reduced) {
		notice("%s", line)
	}
	if s.HTTP != nil && policy.DeniesAll(p) {
		notice("mcp-bash: no tool can be called, since MCPBASH_TOOL_ALLOWLIST names none")
		notice("set it in the environment of this server to names of tools, or to * for all")
	}
	for _, line := range settings.Unknown(p.Env, p.Scripts.Tools.Names) {
		notice("mcp-bash: %s", line)
	}
	s.requirements()
	if p.CI && s.state.Logs != nil {
		s.snapshot()
	}
}

// requirements reports the programs of server.d/requirements.json that this machine lacks. It starts no program, so
// it checks no versions. validate and doctor do.
func (s *process) requirements() {
	r, err := requirements.Read(s.project)
	if err != nil {
		s.console.Notice("mcp-bash: ignoring server.d/requirements.json: %v", err)
	}
	if r == nil {
		return
	}
	say := func(text, hint string) {
		if hint != "" {
			hint = "; " + hint
		}
		s.console.Notice("mcp-bash: %s (server.d/requirements.json)%s", text, hint)
	}
	if older := r.Framework(cli.Version); older != "" {
		say(older, "")
	}
	for _, d := range r.Dependencies {
		if len(d.Find(s.project.Env["PATH"])) == 0 {
			say(d.Absent().Text, d.InstallHint)
		}
	}
}

const snapshotTimeout = 5 * time.Second

// snapshot writes a file about the environment to the logs of a CI run. The file contains sizes and counts, never
// values.
func (s *process) snapshot() {
	env := s.project.Env
	size := 0
	for name, value := range env {
		size += len(name) + len(value) + 2
	}
	path := filepath.SplitList(env["PATH"])
	tool := project.JSONTool{Name: "none"}
	if e := s.server.Engine; e != nil {
		tool = e.JSONTool
	}
	version := s.runner.Run(context.Background(), script.Spec{
		Argv: []string{"bash", "-c", `printf %s "$BASH_VERSION"`}, Env: env.Entries(), Timeout: snapshotTimeout,
	})
	first, last := "", ""
	if len(path) > 0 {
		first, last = path[0], path[len(path)-1]
	}
	var b rawjson.Builder
	b.Object().Name("bashVersion").Text(version.Stdout).Name("os").String(runtime.GOOS).Name("cwd").String(s.Dir).
		Name("pathCount").Int(len(path)).Name("pathFirst").String(first).
		Name("pathLast").String(last).Name("pathBytes").Int(len(env["PATH"])).
		Name("envBytes").Int(size).Name("jsonTool").String(tool.Name).Name("jsonToolBin").String(tool.Bin).End()
	handoff.Create(s.state.Logs, "env-snapshot.json", append(b.Bytes(), '\n')) // an existing file stays
}

// gettingStarted is the text of the getting-started server's only tool.
const gettingStarted = `mcp-bash is running, but it does not know which project to serve.

1. Make a project:            mcp-bash new my-server
2. Add a tool to it:          cd my-server && mcp-bash scaffold tool my-tool
3. Tell the server about it:  set MCPBASH_PROJECT_ROOT=/path/to/my-server in its
   environment, and MCPBASH_TOOL_ALLOWLIST to the tools that it may run (or *). If a
   client starts the server, set them in the client's configuration of this server.

More: README.md#quick-start, docs/PROJECT-STRUCTURE.md, docs/ROOTS.md
`

// makeBootstrap makes the project that is served if no other project is found. It removes settings from env that
// would change it.
func makeBootstrap(env project.Env) (*project.TempDir, error) {
	dir, err := project.MakeBootstrapDir(env)
	if err != nil {
		return nil, fmt.Errorf("mcp-bash: unable to create temporary bootstrap workspace: %w", err)
	}
	script := "#!/bin/sh\ncat <<'END'\n" + gettingStarted + "END\n"
	var meta rawjson.Builder
	meta.Object().Name("name").String("getting_started").
		Name("description").String("Show setup steps when MCPBASH_PROJECT_ROOT is unset.").
		Name("inputSchema").Object().Name("type").String("object").Name("properties").Object().End().End().
		Name("timeoutSecs").Int(5).End()
	tool := filepath.Join(dir.Path, "tools", "getting-started")
	if err := errors.Join(
		os.MkdirAll(tool, 0o700),
		os.WriteFile(filepath.Join(tool, "tool.sh"), []byte(script), 0o700),
		os.WriteFile(filepath.Join(tool, "tool.meta.json"), meta.Bytes(), 0o600),
		os.Mkdir(filepath.Join(dir.Path, "server.d"), 0o700),
	); err != nil {
		dir.Remove()
		return nil, fmt.Errorf("mcp-bash: unable to create temporary bootstrap workspace: %w", err)
	}
	for _, name := range []string{"TOOLS", "RESOURCES", "PROMPTS", "COMPLETIONS", "SERVER", "REGISTRY", "PROVIDERS",
		"UI"} {
		delete(env, "MCPBASH_"+name+"_DIR")
	}
	delete(env, "MCPBASH_SECURITY_LEVEL") // the tool is trusted, and uses no paths
	delete(env, roots.Variable)
	env.Default("MCPBASH_TOOL_ALLOWLIST", "getting_started")
	return dir, nil
}
