package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
)

// gettingStarted is the text of the getting-started server's only tool (P-120).
const gettingStarted = `mcp-bash is running, but it does not know which project to serve.

1. Make a project:            mcp-bash new my-server
2. Add a tool to it:          cd my-server && mcp-bash scaffold tool my-tool
3. Tell the server about it:  set MCPBASH_PROJECT_ROOT=/path/to/my-server in its
   environment, and MCPBASH_TOOL_ALLOWLIST to the tools that it may run (or *). If a
   client starts the server, set them in the client's configuration of this server.

More: README.md#quick-start, docs/PROJECT-STRUCTURE.md, docs/ROOTS.md
`

// makeBootstrap makes the project that is served without another one. It removes settings from env
// that would change it.
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

// bootstrapMeta returns the description of the getting-started server (P-120).
func bootstrapMeta() project.Meta {
	return project.Meta{
		Name: "mcp-bash", Title: "MCP Bash Framework", Version: cli.Version,
		Description: "Getting started helper - configure MCPBASH_PROJECT_ROOT to build your own server",
	}
}
