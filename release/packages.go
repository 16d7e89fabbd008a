package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // a format of packages
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // another

	"mcp-bash/pkg/cli"
)

// home is where packages put the tree. The commands on PATH are links into it, by
// which they find it (CLI-303).
const home = "/usr/lib/mcp-bash"

// summary is the first line that package managers show.
const summary = "Turn shell scripts into MCP servers"

// writePackages writes a .deb and an .rpm for each Linux.
func (r *release) writePackages() error {
	for _, t := range r.trees {
		if t.OS != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.writePackage(t, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) writePackage(t tree, format string) error {
	contents, err := r.contents(t, format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "mcp-bash", Arch: t.Arch, Platform: "linux", Version: cli.Version, Release: "1",
		Section: "utils", Priority: "optional", License: "MIT", MTime: r.time,
		Maintainer:  "The mcp-bash authors <mcp-bash@example.invalid>",
		Description: summary + "\nA folder of scripts becomes a server of the Model Context Protocol.",
		Overridables: nfpm.Overridables{
			Depends:  []string{map[string]string{"deb": "bash (>= 3.2)", "rpm": "bash >= 3.2"}[format]},
			Contents: contents,
			RPM:      nfpm.RPM{BuildHost: "localhost", Summary: summary},
		},
	})
	if format == "deb" {
		info.Release = "" // a version of 2.0.0, not 2.0.0-1: the package is made where the sources are
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	return create(r.asset(packager.ConventionalFileName(info)),
		func(w io.Writer) error { return packager.Package(info, w) })
}

// docs is the directory for the documentation in packages.
const docs = "/usr/share/doc/mcp-bash/"

// contents returns the files of a package, and their places.
func (r *release) contents(t tree, format string) (list files.Contents, err error) {
	tree, err := entries(t.dir, "")
	if err != nil {
		return nil, err
	}
	for _, e := range tree {
		if e.file == "" || e.name == "install.sh" {
			continue
		}
		to := home + "/" + e.name
		dir, rest, _ := strings.Cut(e.name, "/")
		switch dir {
		case "share":
			if rest == "llms.txt" || strings.HasPrefix(rest, "skills/") || strings.HasPrefix(rest, "monitoring/") {
				to = docs + e.name // links lead from it to the pages there, or to it
				break
			}
			to = "/usr/share/" + rest
			if format == "deb" { // Debian uses another directory
				to = strings.Replace(to, "zsh/site-functions", "zsh/vendor-completions", 1)
			}
		case "LICENSE":
			to = docs + "copyright"
		case "docs", "README.md", "CHANGELOG.md":
			to = docs + e.name
		}
		list = append(list, &files.Content{Source: e.file, Destination: to, Type: files.TypeFile,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: e.mode(), MTime: r.time}})
	}
	for _, file := range t.programs {
		name := filepath.Base(file)
		list = append(list, &files.Content{Source: "../lib/mcp-bash/bin/" + name, Destination: "/usr/bin/" + name,
			Type:     files.TypeSymlink,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o777, MTime: r.time}})
	}
	return list, nil
}
