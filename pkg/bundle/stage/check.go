package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/toolnames"
)

// checkContent checks whether the content works on other machines (CLI-1434).
func (s *Stage) checkContent() {
	if s.RunsOn("windows") {
		for _, f := range mcpb.CheckWindows(nil, &s.Content.Names) {
			s.Fault("cannot be in a bundle for Windows: %s; rename it, or choose other systems with --platform", f)
		}
	}
	s.checkRequirements()
	total := int64(0)
	for _, f := range s.Content.files {
		total += f.Size
	}
	if total > advisedSize {
		s.Warn("%d MB of files; clients may refuse bundles of more than %d MB", total>>20, advisedSize>>20)
	}
}

// advisedSize is the size of a bundle's files above which there is a warning, in bytes.
const advisedSize int64 = 100 << 20

// checkTool reports problems that prevent a tool's script from running on other machines.
func (s *Stage) checkTool(tool json.RawMessage) {
	name, file := rawjson.TextOf(tool, "name"), rawjson.TextOf(tool, "path")
	if !toolnames.IsPortable(name) {
		s.Warn("tool name %q must match ^[a-zA-Z0-9_-]{1,64}$ for some clients", name)
	}
	if file == "" {
		return
	}
	shown := path.Join("tools", file)
	head, err := s.Staged.ReadFile(filepath.Join(s.Staged.Tools, filepath.FromSlash(file)), mcpb.MaxFile)
	switch line, _, _ := bytes.Cut(head, []byte("\n")); {
	case err != nil:
		s.Fault("tool %q: %s: not in the bundle", name, shown)
	case script.HasShebang(line) && bytes.HasSuffix(line, []byte("\r")):
		s.Fault("tool %q: %s has Windows line ends, with which nothing finds its interpreter; "+
			"convert it: sed -i 's/\\r$//' %s", name, shown, shown)
	case !script.HasShebang(line) && strings.HasSuffix(file, ".sh"):
		s.Warn("tool %q: %s has no first line such as #!/usr/bin/env bash", name, shown)
	}
}

// checkRequirements reports requirements that the server in the bundle does not meet, or cannot read (CLI-1109).
func (s *Stage) checkRequirements() {
	r, err := requirements.Read(s.Staged)
	if err != nil {
		s.Warn("server.d/requirements.json: %v", err)
	} else if r != nil {
		if older := r.Framework(cli.Version); older != "" {
			s.Warn("server.d/requirements.json: %s", older)
		}
	}
}

const smokeTime = 60 * time.Second

// smoke starts the server in the staged tree, and compares its tools with those of the manifest.
func (s *Stage) smoke(ctx context.Context) error {
	at := slices.IndexFunc(s.Binaries, func(bin runtimes.Binary) bool { return bin.Target == runtimes.Host })
	if s.NoSmoke || at < 0 {
		s.Detail("Not started: no binary for %s in it, or --no-smoke", runtimes.Host)
		return nil
	}
	dir := s.Staged.Root
	for _, f := range s.Content.files {
		forOther := func(bin runtimes.Binary) bool {
			return bin.Target != runtimes.Host && strings.HasSuffix(f.Name, "/bin/"+bin.Path())
		}
		if !slices.ContainsFunc(s.Binaries, forOther) {
			if err := s.Content.materialize(f); err != nil {
				return err
			}
		}
	}
	program := code.Launcher.In(s.Staged)
	if runtimes.Host.OS == "windows" {
		program = code.Vendored.Below(s.Staged, "bin/"+runtimes.Host.Path())
	}
	env := s.Staged.Env.Clone()
	env["MCPBASH_PROJECT_ROOT"], env["MCPB_SKIP_LOGIN_SHELL"] = dir, "1"
	if s.Static {
		env["MCPBASH_STATIC_REGISTRY"] = "1"
	}
	var listed []string
	for cursor := ""; ; {
		args := []string{"request", "tools/list"}
		if cursor != "" {
			args = append(args, `{"cursor":`+string(rawjson.Quote(cursor))+"}")
		}
		r := s.runner.Run(ctx, script.Spec{Script: program, Args: args, Dir: dir, Env: env.Entries(), Timeout: smokeTime,
			StdoutLimit: 256 << 20, StderrLimit: 1 << 20})
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		answer, err := rawjson.Check(r.Stdout)
		if r.Cause != nil || r.Status != 0 || err != nil {
			return fmt.Errorf("the bundle does not start (exit %d): %s (--no-smoke leaves this check out)",
				r.Status, strings.TrimSpace(string(r.Stderr)))
		}
		for t := range rawjson.Elements(rawjson.Get(answer, "tools")) {
			listed = append(listed, rawjson.TextOf(t, "name"))
		}
		if cursor = rawjson.TextOf(answer, "nextCursor"); cursor == "" {
			break
		}
	}
	want := toolNames(s.Tools)
	lacks := func(name string) bool { return !slices.Contains(listed, name) } // the server can add own tools (LR-30)
	if slices.ContainsFunc(want, lacks) {
		return fmt.Errorf("the bundle lists the tools %q, its manifest %q", listed, want)
	}
	return nil
}
