package main

import (
	"context"
	"io"
	"os"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/npm"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
)

// toolsPrefix begins the names of the packages with all programs.
const toolsPrefix = "@mcp-bash/tools-"

// writeNPM writes the packages of npm. mcp-bash depends on a package with all programs for each system. Packages of
// authors depend on another one with the server.
func (r *release) writeNPM() error {
	about := r.identity()
	for _, t := range r.trees {
		if err := r.writeNPMOf(t, about); err != nil {
			return err
		}
	}
	readme := "# mcp-bash\n\n" + summary + ":\n\n```console\n$ npx -y mcp-bash new my-server\n```\n"
	return r.writeNPMPackage(&npm.Package{Identity: about, Targets: r.targets,
		Start: &npm.Start{Command: "mcp-bash", Prefix: toolsPrefix, Version: cli.Version, Env: map[string]string{}},
		Files: []mcpb.File{mcpb.Bytes(stage.ReadmeName, false, []byte(readme))}})
}

// identity describes mcp-bash in packages.
func (r *release) identity() stage.Identity {
	return stage.Identity{Name: "mcp-bash", Version: cli.Version, License: "MIT", Description: summary, Homepage: r.base}
}

func (r *release) writeNPMOf(t tree, about stage.Identity) error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := mcpb.Folder(root)
	if err != nil {
		return err
	}
	var all, server []mcpb.File
	for _, f := range files {
		folder, _, _ := strings.Cut(f.Name, "/")
		if f.Name != "install.sh" && f.Name != stage.ReadmeName {
			all = append(all, f)
		}
		switch folder {
		case "sdk", "lib", "providers", "VERSION", "LICENSE":
			server = append(server, f)
		}
		if f.Name == "bin/"+t.Binary() {
			server = append(server, f)
		}
	}
	tools := about
	tools.Name, tools.Description = toolsPrefix+t.Node(), "The programs of mcp-bash for "+t.Node()
	err = r.writeNPMPackage(&npm.Package{Identity: tools, Targets: []runtimes.Target{t.Target}, Files: all})
	if err != nil {
		return err
	}
	return r.writeNPMPackage(npm.Runtime(npm.RuntimePrefix, t.Target, about, server))
}

func (r *release) writeNPMPackage(p *npm.Package) error {
	return create(r.asset(p.FileName()+".tgz"), func(w io.Writer) error { return p.Write(context.Background(), w) })
}
