// Package npm makes npm packages (packages chapter 1). npx starts the package of a project. It depends on packages with
// the server's program, one for each system.
package npm

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/text/lazyregexp"

	"github.com/klauspost/compress/gzip"
)

// A Package is a package: the values of its package.json, and its other files. The same values make the same bytes.
//
// A release makes the package of a system from a folder with bin/mcp-bash, sdk, lib, providers and VERSION:
//
//	files, err := mcpb.Folder(root) // an *os.Root, open until the package is written
//	p := npm.Runtime(npm.RuntimePrefix, target, stage.Identity{Version: cli.Version, License: "MIT"}, files)
//	err = p.Write(ctx, w) // the file p.FileName() + ".tgz", which npm publish takes
//
// A package whose command starts bin/mcp-bash of such packages has Start, and all systems in Targets.
type Package struct {
	stage.Identity                   // Name is the package's: my-tools or @me/my-tools
	MCPName        string            // the server's name in the MCP registry, or ""
	Targets        []runtimes.Target // the systems that it is for
	Start          *Start            // its command; nil for none
	Files          []mcpb.File       // with names below the package's folder
}

// A Start is a command that starts the program bin/mcp-bash of the package for the system. Those packages are
// dependencies.
type Start struct {
	Command string            // the command's name
	Prefix  string            // the packages' names without the system: @mcp-bash/runtime-
	Version string            // the packages' version
	Project string            // the folder of the project that it serves, or ""
	Env     map[string]string // variables for the program, unless the user set them
}

// RuntimePrefix begins the names of the packages that releases publish.
const RuntimePrefix = "@mcp-bash/runtime-"

// Runtime returns the package with the programs for one system, whose name is a prefix and [runtimes.Target.Node].
// Files come from an installation: bin/mcp-bash (bin/mcp-bash.exe), sdk, lib, providers and VERSION.
func Runtime(prefix string, t runtimes.Target, about stage.Identity, files []mcpb.File) *Package {
	about.Name = prefix + t.Node()
	about.Description = "The server of mcp-bash for " + t.Node()
	readme := "# " + about.Name + "\n\n" + about.Description + ". Packages of MCP servers depend on it.\n" +
		"Install one of those instead.\n"
	files = append(slices.Clone(files), mcpb.Bytes(stage.Readme, false, []byte(readme)))
	return &Package{Identity: about, Targets: []runtimes.Target{t}, Files: files}
}

const (
	manifestName = "package.json"
	startName    = "start.js"
)

//go:embed start.js
var launcher []byte

// FileName returns the name that npm gives to the package's archive, without its ending.
func (p *Package) FileName() string {
	return strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-") + "-" + p.Version
}

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description,omitempty"`
	Keywords    []string          `json:"keywords,omitempty"`
	Homepage    string            `json:"homepage,omitempty"`
	Repository  map[string]string `json:"repository,omitempty"`
	License     string            `json:"license,omitempty"`
	Author      map[string]string `json:"author,omitempty"`
	MCPName     string            `json:"mcpName,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Files       []string          `json:"files"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"` // Yarn does not start programs in archives
	Launch      *launch           `json:"mcpBash,omitempty"`         // for start.js
}

type launch struct {
	Project string            `json:"project,omitempty"`
	Env     map[string]string `json:"env"`
}

// present returns a map without its empty values.
func present(values map[string]string) map[string]string {
	for name, value := range values {
		if value == "" {
			delete(values, name)
		}
	}
	return values
}

func (p *Package) manifest() ([]byte, error) {
	m := manifest{
		Name: p.Name, Version: p.Version, Description: p.Description, Keywords: p.Keywords, Homepage: p.Homepage,
		License: p.License, MCPName: p.MCPName, Unplugged: p.Start == nil,
		Author: present(map[string]string{"name": p.Author, "email": p.Email, "url": p.URL}),
	}
	if p.Repository != "" {
		m.Repository = map[string]string{"type": p.RepositoryType, "url": p.Repository}
	}
	for _, f := range p.Files {
		top, _, isBelow := strings.Cut(f.Name, "/")
		if isBelow {
			top += "/"
		}
		m.Files = append(m.Files, top)
	}
	for _, t := range p.Targets {
		m.OS, m.CPU = append(m.OS, t.Platform()), append(m.CPU, t.CPU())
	}
	if s := p.Start; s != nil {
		m.Bin = map[string]string{s.Command: startName}
		m.Files = append(m.Files, startName)
		m.Engines = map[string]string{"node": ">=18"}
		m.Optional = map[string]string{}
		for _, t := range p.Targets {
			m.Optional[s.Prefix+t.Node()] = s.Version
		}
		m.Launch = &launch{s.Project, s.Env}
	}
	for _, list := range []*[]string{&m.Files, &m.OS, &m.CPU} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return text.Bytes(), err
}

// check returns an error for names and a version that npm refuses.
func (p *Package) check() error {
	err := errors.Join(checkName(p.Name), checkVersion(p.Version))
	if p.Start != nil && err == nil {
		for _, t := range p.Targets {
			err = cmp.Or(err, checkName(p.Start.Prefix+t.Node()))
		}
	}
	return err
}

// All returns all files of the package, package.json first. The error is for a package that npm refuses or changes.
func (p *Package) All() ([]mcpb.File, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	text, err := p.manifest()
	if err != nil {
		return nil, err
	}
	files := slices.Clone(p.Files)
	if p.Start != nil {
		files = append(files, mcpb.Bytes(startName, true, launcher))
	}
	mcpb.Sort(files)
	files = append([]mcpb.File{mcpb.Bytes(manifestName, false, text)}, files...)
	var names mcpb.Names
	for _, f := range files {
		if err := names.Add(f.Name); err != nil {
			return nil, err
		}
		if isDropped(f.Name) {
			return nil, fmt.Errorf("%s: npm leaves out or renames files of this name; rename it, or leave it out with "+
				".mcpbignore", f.Name)
		}
	}
	return files, nil
}

// modified is the time that npm gives to all files.
var modified = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// Write writes the archive of the package.
func (p *Package) Write(ctx context.Context, w io.Writer) error {
	files, err := p.All()
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := f.WriteTar(t, tar.Header{Name: "package/" + f.Name, ModTime: modified}); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return errors.Join(t.Close(), z.Close())
}

var validName = lazyregexp.New(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)

// checkName returns an error for a name that npm does not accept for a new package.
func checkName(name string) error {
	if !validName.MatchString(name) || len(name) > 214 || name == "node_modules" || name == "favicon.ico" {
		return fmt.Errorf("npm accepts no package of the name %q; use lower-case letters, digits, dots and dashes, "+
			"such as @you/my-tools", name)
	}
	return nil
}

// checkVersion returns an error for a version that npm refuses or changes.
func checkVersion(version string) error {
	if !item.IsSemver(version) || strings.Contains(version, "+") {
		return fmt.Errorf("npm accepts no version %q; use one such as 1.2.3 or 1.2.3-beta.1", version)
	}
	return nil
}

// isDropped reports whether npm pack leaves a file out, or npm install gives it another name.
func isDropped(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		switch part {
		case ".npmignore", ".gitignore", ".npmrc", ".git", ".svn", ".hg", "cvs", ".ds_store":
			return true
		}
		if strings.HasPrefix(part, "._") || strings.HasSuffix(part, ".orig") || strings.Contains(part, "*") ||
			strings.HasPrefix(part, ".") && strings.HasSuffix(part, ".swp") {
			return true
		}
	}
	return false
}
