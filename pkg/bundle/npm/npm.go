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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Package is a package: the values of its package.json, and its other files. The same values make the same bytes.
//
// A release makes the package of a system from a folder with bin/mcp-bash, sdk, lib, providers and VERSION:
//
//	files, err := mcpb.Folder(root) // an *os.Root, open until the package is written
//	p := npm.Runtime(npm.RuntimePrefix, target, stage.Identity{Version: cli.Version, License: "MIT"}, files)
//	err = p.Write(ctx, w) // the file p.FileName() + ".tgz", which npm publish takes
//
// For a package whose command starts bin/mcp-bash of such packages, set Start, and all systems in Targets.
type Package struct {
	stage.Identity                   // Name is the package's: my-tools or @me/my-tools
	Targets        []runtimes.Target // the systems that it is for
	Start          *Start            // its command; nil for none
	Files          []mcpb.File       // with names below the package's folder
}

// A Start is a command that starts bin/mcp-bash of the package for the user's system. The packages for all systems are
// dependencies.
type Start struct {
	Command string            `json:"-"`                 // the command's name
	Prefix  string            `json:"-"`                 // the packages' names without the system: @mcp-bash/runtime-
	Version string            `json:"-"`                 // the packages' version
	Project string            `json:"project,omitempty"` // the folder of the served project, or ""
	Env     map[string]string `json:"env"`               // variables for the program, unless the user set them
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
	files = append(slices.Clone(files), mcpb.Bytes(stage.ReadmeName, false, []byte(readme)))
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

type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description,omitempty"`
	Keywords    []string          `json:"keywords,omitempty"`
	Homepage    string            `json:"homepage,omitempty"`
	Repository  map[string]string `json:"repository,omitempty"`
	License     string            `json:"license,omitempty"`
	Author      person            `json:"author,omitzero"`
	MCPName     string            `json:"mcpName,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Files       []string          `json:"files"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"` // Yarn does not start programs in archives
	Launch      *Start            `json:"mcpBash,omitempty"`         // for start.js
}

type person struct {
	Email string `json:"email,omitempty"`
	Name  string `json:"name,omitempty"`
	URL   string `json:"url,omitempty"`
}

func (p *Package) manifest() ([]byte, error) {
	m := manifest{
		Name: p.Name, Version: p.Version, Description: p.Description, Keywords: p.Keywords, Homepage: p.Homepage,
		License: p.License, MCPName: p.RegistryName, Unplugged: p.Start == nil,
		Author: person{p.Email, p.Author, p.URL},
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
		m.Launch = s
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

// check returns an error for a name or a version that npm rejects.
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
		if err := names.Add(f); err != nil {
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

// Options are the options of a project's package.
type Options struct {
	Name       string // such as @me/my-tools, or "" for that of the project
	Standalone bool   // packages with this name and a system contain the programs
}

type maker struct {
	*stage.Stage
	o Options
}

// Make makes the package of a project, as a folder and as an archive, and with Standalone those of the programs. The
// error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, s *stage.Stage, o Options) (*stage.Result, error) {
	m := &maker{s, o}
	whole, err := m.describe()
	if err != nil {
		return nil, err
	}
	if err := m.Prepare(ctx, nil); err != nil {
		return nil, err
	}
	if err := m.fill(whole); err != nil {
		return nil, m.Reject(stage.ErrValidation, err)
	}
	r := m.result(whole)
	if m.Validate {
		return r, nil
	}
	m.Line("Bundling project...")
	m.ShowResult(r)
	if o.Standalone {
		for _, bin := range m.Binaries {
			about := m.ID
			about.License, about.RegistryName = "MIT", "" // mcp-bash's licence; no client starts this package
			part := Runtime(whole.Start.Prefix, bin.Target, about, runtimes.Tree("", m.Tree, bin))
			made := m.result(part)
			if err := m.write(ctx, made, part, "bin/"+bin.Binary()); err != nil {
				return nil, err
			}
			r.Programs = append(r.Programs, made.Path)
		}
	}
	return r, m.write(ctx, r, whole, startName)
}

func (m *maker) result(p *Package) *stage.Result {
	r := m.Result(filepath.Join(m.Output, p.FileName()+".tgz"))
	r.Name = p.Name
	return r
}

// describe returns the package without its files, and reports values that npm refuses.
func (m *maker) describe() (*Package, error) {
	p := &Package{Identity: m.ID, Targets: m.Targets}
	licence, err := m.AddTexts()
	if err != nil {
		return nil, err
	}
	switch {
	case p.License != "":
	case licence != "":
		p.License = "SEE LICENSE IN " + licence
	default:
		m.WarnHint("the package has no licence", `add a file LICENSE, or "license" in server.d/server.meta.json`)
	}
	command := p.Name
	p.Name = cmp.Or(m.o.Name, p.Name)
	p.Start = &Start{Command: command, Prefix: RuntimePrefix, Version: cli.Version, Project: stage.ServerDir}
	if m.o.Standalone {
		p.Start.Prefix, p.Start.Version = p.Name+"-", p.Version
	}
	if err := p.check(); err != nil {
		return nil, m.Reject(stage.ErrConfiguration, err)
	}
	return p, nil
}

// fill adds the files, the variables and the systems. They are known only after [stage.Stage.Prepare].
func (m *maker) fill(p *Package) error {
	p.Targets, p.Start.Env = m.Supported(), map[string]string{}
	for _, entry := range m.Environment() {
		name, value, _ := strings.Cut(entry, "=")
		p.Start.Env[name] = value
	}
	for _, f := range m.Content.Files() {
		isRuntime := strings.HasPrefix(f.Name, stage.ServerDir+"/"+runtimes.Dir+"/") || f.Name == stage.EntryPoint
		if !isRuntime && f.Name != stage.ReadmeName {
			p.Files = append(p.Files, f)
		}
	}
	settings := ""
	for i, setting := range m.User.Env {
		if i == 0 {
			settings = "\n\n## Settings\n\nSet these variables in the entry of the client:\n"
		}
		field := rawjson.Get(m.User.Fields, setting.Key)
		settings += "\n- `" + setting.Variable + "`: " + stage.OneLine(rawjson.TextOf(field, "description"))
		if rawjson.True(rawjson.Get(field, "required")) {
			settings += " (required)"
		}
	}
	readme, err := m.Readme(p.Name, p.Version, settings)
	if err != nil {
		return err
	}
	p.Files = append(p.Files, mcpb.Bytes(stage.ReadmeName, false, []byte(readme)))
	_, err = p.All()
	return err
}

// write writes the archive of a result, and the folder next to it. mark is a file that identifies such a folder.
func (m *maker) write(ctx context.Context, r *stage.Result, p *Package, mark string) error {
	files, err := p.All()
	if err != nil {
		return err
	}
	folder := strings.TrimSuffix(r.Path, ".tgz")
	if err := outdir.CheckReplaceable(folder, mark); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if err := m.WriteFile(ctx, r, func(_ *os.File, w io.Writer) error { return p.Write(ctx, w) }); err != nil {
		return err
	}
	if err := outdir.Replace(ctx, folder, files, nil); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	m.Done("%s %s (%s)", p.Name, p.Version, cli.Size(r.Bytes))
	return nil
}

// Commands returns the commands that publish the archives of a result, packages with programs first.
func Commands(r *stage.Result) string {
	var list []string
	options := "--access public "
	if strings.Contains(r.Version, "-") {
		options += "--tag next " // npm wants a tag for a pre-release
	}
	for _, file := range append(slices.Clone(r.Programs), r.Path) {
		list = append(list, "npm publish "+options+filepath.Base(file))
	}
	return strings.Join(list, " && ")
}
