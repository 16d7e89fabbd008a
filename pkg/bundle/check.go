package bundle

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

// check checks whether clients accept the bundle, before it is written (CLI-1434).
func (b *builder) check(manifest []byte) {
	doc, err := mcpb.ParseManifest(manifest)
	if err != nil {
		b.say.fault("manifest: %v", err)
		return
	}
	for _, f := range mcpb.CheckManifest(doc) {
		b.say.fault("manifest: %s", f)
	}
	for _, f := range mcpb.CheckFiles(doc, &b.content.names, b.content.isExec) {
		b.say.fault("manifest: %s", f)
	}
	b.checkWindows(doc)
	if !mcpb.IsName(b.id.name) {
		b.say.warn("name %q: letters, digits, dot, dash and underscore are sure to work, 100 at most", b.id.name)
	}
	b.checkContent()
}

func (b *builder) checkWindows(manifest json.RawMessage) {
	for _, f := range mcpb.CheckWindows(manifest, &b.content.names) {
		b.say.fault("cannot be in a bundle for Windows: %s; rename it, or choose other systems with --platform", f)
	}
}

func (b *builder) checkContent() {
	for _, t := range b.offered.tools {
		b.checkTool(t)
	}
	b.checkRequirements()
	total := int64(0)
	for _, f := range b.content.files {
		total += f.Size
	}
	if total > advisedSize {
		b.say.warn("%d MB of files; clients may refuse bundles of more than %d MB", total>>20, advisedSize>>20)
	}
}

// advisedSize is the size of a bundle's files above which there is a warning, in bytes.
const advisedSize int64 = 100 << 20

// checkTool reports problems that prevent a tool's script from running on other machines.
func (b *builder) checkTool(tool json.RawMessage) {
	name, file := rawjson.TextOf(tool, "name"), rawjson.TextOf(tool, "path")
	if !toolnames.IsPortable(name) {
		b.say.warn("tool name %q must match ^[a-zA-Z0-9_-]{1,64}$ for some clients", name)
	}
	if file == "" {
		return
	}
	shown := path.Join("tools", file)
	head, err := b.staged.ReadFile(filepath.Join(b.staged.Tools, filepath.FromSlash(file)), mcpb.MaxFile)
	switch line, _, _ := bytes.Cut(head, []byte("\n")); {
	case err != nil:
		b.say.fault("tool %q: %s: not in the bundle", name, shown)
	case script.HasShebang(line) && bytes.HasSuffix(line, []byte("\r")):
		b.say.fault("tool %q: %s has Windows line ends, with which nothing finds its interpreter; "+
			"convert it: sed -i 's/\\r$//' %s", name, shown, shown)
	case !script.HasShebang(line) && strings.HasSuffix(file, ".sh"):
		b.say.warn("tool %q: %s has no first line such as #!/usr/bin/env bash", name, shown)
	}
}

// checkRequirements reports requirements that the server in the bundle does not meet, or cannot read (CLI-1109).
func (b *builder) checkRequirements() {
	r, err := requirements.Read(b.staged)
	if err != nil {
		b.say.warn("server.d/requirements.json: %v", err)
	} else if r != nil {
		if older := r.Framework(cli.Version); older != "" {
			b.say.warn("server.d/requirements.json: %s", older)
		}
	}
}

const smokeTime = 60 * time.Second

// smoke starts the server in the staged tree, and compares its tools with those of the manifest.
func (b *builder) smoke(ctx context.Context) error {
	at := slices.IndexFunc(b.binaries, func(bin runtimes.Binary) bool { return bin.Target == runtimes.Host })
	if b.o.NoSmoke || at < 0 {
		b.say.verbose("Not started: no binary for %s in it, or --no-smoke", runtimes.Host)
		return nil
	}
	dir := b.staged.Root
	for _, f := range b.content.files {
		if f.Name == entryPoint || strings.HasPrefix(f.Name, serverDir+"/"+runtimes.Dir+"/") &&
			(!strings.Contains(f.Name, "/bin/") || path.Dir(f.Name) == path.Dir(serverDir+"/"+runtimes.Dir+"/bin/x") ||
				strings.HasSuffix(f.Name, runtimes.Host.Path())) || strings.HasPrefix(f.Name, serverDir+"/.registry/") {
			if err := b.content.materialize(f); err != nil {
				return err
			}
		}
	}
	program := code.Launcher.In(b.staged)
	if runtimes.Host.OS == "windows" {
		program = code.Vendored.Below(b.staged, "bin/"+runtimes.Host.Path())
	}
	env := b.staged.Env.Clone()
	env["MCPBASH_PROJECT_ROOT"], env["MCPB_SKIP_LOGIN_SHELL"] = dir, "1"
	if b.static {
		env["MCPBASH_STATIC_REGISTRY"] = "1"
	}
	var listed []string
	for cursor := ""; ; {
		args := []string{"request", "tools/list"}
		if cursor != "" {
			args = append(args, `{"cursor":`+string(rawjson.Quote(cursor))+"}")
		}
		r := b.runner.Run(ctx, script.Spec{Script: program, Args: args, Dir: dir, Env: env.Entries(), Timeout: smokeTime,
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
	want := b.offered.toolNames()
	lacks := func(name string) bool { return !slices.Contains(listed, name) } // the server can add own tools (LR-30)
	if slices.ContainsFunc(want, lacks) {
		return fmt.Errorf("the bundle lists the tools %q, its manifest %q", listed, want)
	}
	return nil
}

func (c *collector) isExec(name string) bool {
	at := slices.IndexFunc(c.files, func(f mcpb.File) bool { return f.Name == name })
	return at >= 0 && c.files[at].Exec
}

// add adds a file that does not come from the project.
func (c *collector) add(f mcpb.File) error {
	if err := c.names.Add(f.Name); err != nil {
		return fmt.Errorf("the project has a file with the name of one of the bundle's own: %w", err)
	}
	c.files = append(c.files, f)
	return nil
}

// materialize writes a file of [collector.add] to the staged tree.
func (c *collector) materialize(f mcpb.File) error {
	if _, err := c.work.Lstat(f.Name); err == nil {
		return nil
	}
	_, _, err := f.Create(c.work, f.Name, false)
	return err
}
