package npm

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// Options are the options of a project's package.
type Options struct {
	stage.Options      // Output is a directory, and Name can be that of a package, such as @me/my-tools
	Standalone    bool // packages with this name and a system contain the programs
}

// A maker makes packages from a stage.
type maker struct {
	*stage.Stage
	name       string // as the user gave it, or ""
	standalone bool
}

// Make makes the package of a project, as a folder and as an archive, and with Standalone those of the programs. The
// error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, p *project.Project, o Options) (*stage.Result, error) {
	m := &maker{name: o.Name, standalone: o.Standalone}
	if _, name, isScoped := strings.Cut(o.Name, "/"); isScoped {
		o.Name = name
	}
	o.Apart = !o.Standalone
	s, err := stage.Open(ctx, p, o.Options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	m.Stage = s
	whole, err := m.describe()
	if err != nil {
		return nil, err
	}
	if err := m.Prepare(ctx, nil); err != nil {
		return nil, err
	}
	if err := m.fill(whole); err != nil {
		m.Fault("%v", err)
		return nil, m.Fail(stage.ErrValidation)
	}
	r := m.result(whole)
	if o.Validate {
		return r, nil
	}
	m.Line("Bundling project...")
	m.ShowResult(r)
	if o.Standalone {
		for _, bin := range m.Binaries {
			about := m.ID
			about.License = "MIT" // the licence of mcp-bash
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
	p := &Package{Identity: m.ID, MCPName: m.ID.RegistryName, Targets: m.Targets}
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
	p.Name = cmp.Or(m.name, p.Name)
	p.Start = &Start{Command: command, Prefix: RuntimePrefix, Version: cli.Version, Project: stage.ServerDir}
	if m.standalone {
		p.Start.Prefix, p.Start.Version = p.Name+"-", p.Version
	}
	if err := p.check(); err != nil {
		m.Fault("%v", err)
		return nil, m.Fail(stage.ErrConfiguration)
	}
	return p, nil
}

// fill adds the files, the variables and the systems, which the stage knows at its end.
func (m *maker) fill(p *Package) error {
	p.Targets, p.Start.Env = m.Supported(), map[string]string{}
	for _, entry := range m.Environment() {
		name, value, _ := strings.Cut(entry, "=")
		p.Start.Env[name] = value
	}
	for _, f := range m.Content.Files() {
		isRuntime := strings.HasPrefix(f.Name, stage.ServerDir+"/"+runtimes.Dir+"/") || f.Name == stage.EntryPoint
		if !isRuntime && f.Name != stage.Readme {
			p.Files = append(p.Files, f)
		}
	}
	readme, err := m.readme(p)
	if err != nil {
		return err
	}
	p.Files = append(p.Files, mcpb.Bytes(stage.Readme, false, []byte(readme)))
	_, err = p.All()
	return err
}

// readme returns the project's README, or a short one, with the settings of the server and its entries for clients.
func (m *maker) readme(p *Package) (string, error) {
	own, err := m.ReadReadme()
	if err != nil {
		return "", err
	}
	text := cmp.Or(strings.TrimSpace(string(own)), "# "+oneLine(p.Title)+"\n\n"+oneLine(p.Description))
	for i, setting := range m.User.Env {
		if i == 0 {
			text += "\n\n## Settings\n\nSet these variables in the entry of the client:\n"
		}
		field := rawjson.Get(m.User.Fields, setting.Key)
		text += "\n- `" + setting.Variable + "`: " + oneLine(rawjson.TextOf(field, "description"))
		if rawjson.True(rawjson.Get(field, "required")) {
			text += " (required)"
		}
	}
	instructions, err := m.Instructions(p.Name, p.Version)
	return text + "\n\n" + instructions, err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// write writes the archive of a result, and the folder next to it. mark is a file by which such a folder is known.
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
	if _, err := outdir.Replace(ctx, folder, files, nil, nil); err != nil {
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
