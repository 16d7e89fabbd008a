package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
)

type maker struct {
	*stage.Stage
	icon    string
	licence string
}

// Make makes the plugin of a project as a folder or an archive. The output path of an archive ends in .zip, or is the
// folder for the archive. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, s *stage.Stage, isArchive bool) (*stage.Result, error) {
	if !isArchive {
		if err := checkFolder(s.Output); err != nil {
			return nil, err
		}
	}
	m := &maker{Stage: s}
	m.NameAuthor()
	if err := m.collect(); err != nil {
		return nil, err
	}
	if err := m.Prepare(ctx, m.addManifests); err != nil {
		return nil, err
	}
	r := m.Result(m.Output)
	if isArchive && filepath.Ext(r.Path) != ".zip" {
		r.Path = filepath.Join(r.Path, m.ID.FileName("-plugin.zip"))
	}
	if m.Validate {
		return r, nil
	}
	m.Line("Bundling project...")
	m.ShowResult(r)
	files, err := m.finish(ctx, r)
	if err != nil {
		return nil, err
	}
	if isArchive {
		return r, m.WriteArchive(ctx, r, files)
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	return r, outdir.Replace(ctx, r.Path, files, func() error { return checkFolder(r.Path) })
}

// Paths in a plugin.
const (
	skillsDir  = "skills"
	pluginLock = stage.ServerDir + "/" + runtimes.Dir + "/plugin.json"
)

// maxPluginLock limits the list of a plugin's files, in bytes.
const maxPluginLock = 16 << 20

// collect adds the files at the top of a plugin that are the project's: skills, icon, README and licence.
func (m *maker) collect() (err error) {
	if _, err := os.Lstat(filepath.Join(m.Project.Root, skillsDir)); err == nil {
		if err := m.AddTree(skillsDir, skillsDir); err != nil {
			return err
		}
	}
	if m.icon, err = m.AddIcon(); err != nil {
		return err
	}
	m.licence, err = m.AddTexts()
	return err
}

func (m *maker) addManifests() error {
	p := m.describe()
	if p.Name == "" {
		return m.Fail(stage.ErrValidation)
	}
	files := p.Files()
	if !m.Content.Has(stage.ReadmeName) {
		files = append(files, mcpb.Bytes(stage.ReadmeName, false, []byte(p.Readme())))
	} else if text, err := m.ReadReadme(); err == nil && isShort(text) {
		m.Warn("README.md has fewer than 40 words; the plugin directory of Claude Code refuses it")
	}
	if m.licence == "" && p.License == "" {
		m.WarnHint("the plugin has no licence", `add a file LICENSE, or "license" in server.d/server.meta.json`)
	}
	if p.Icon == "" {
		m.Note("No icon.png; agents show one with 512x512 pixels or more")
	}
	for _, f := range files {
		if err := m.Content.Add(f); err != nil {
			return m.Reject(stage.ErrValidation, err)
		}
	}
	return nil
}

// describe returns the description for the manifests. It reports values that a manifest cannot contain.
func (m *maker) describe() *Plugin {
	p := &Plugin{
		Identity: m.ID, User: m.User, Icon: m.icon, Skills: m.Content.HasBelow(skillsDir + "/"), Tools: m.Tools,
		Static: m.Static, Windows: slices.Contains(m.Platforms(), "win32"),
	}
	p.Name, p.Homepage, p.Repository = Name(m.ID.Name), webURL(m.ID.Homepage), webURL(m.ID.Repository)
	switch {
	case p.Name == "":
		m.Fault("no agent accepts a plugin of the name %q; give another one, of letters and digits, with --name", m.ID.Name)
	case p.Name != m.ID.Name:
		m.Note("The plugin's name is %s", p.Name)
	}
	for _, field := range rawjson.Members(m.User.Fields) {
		if !m.User.HasVariable(field.Name) {
			m.Warn("user_config field %q is not in the plugin: it is mapped to no variable", field.Name)
		}
	}
	return p
}

// webURL returns a text that is an http or https URL, and "" for any other text.
func webURL(text string) string {
	if mcpb.IsURL(text) && (strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")) {
		return text
	}
	return ""
}

// finish adds the list of the plugin's files, and returns all of them. Names are sorted.
func (m *maker) finish(ctx context.Context, r *stage.Result) ([]mcpb.File, error) {
	files := m.Content.Files()
	sums, err := outdir.SumsOf(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		r.Bytes += f.Size
	}
	var list rawjson.Builder
	list.Object().Name("name").String(Name(m.ID.Name)).Name("version").String(m.ID.Version).Name("files")
	sums.AppendTo(&list)
	err = m.Content.Add(document(pluginLock, list.End().Bytes()))
	r.SHA256 = sums.Digest(strings.Compare, "")
	return m.Content.Files(), err
}

// checkFolder returns an error unless a folder is missing, empty, or an unchanged plugin of this command.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return notOurs(dir, []string{"it is not a folder"})
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if list, err := fs.ReadDir(root.FS(), "."); err != nil || len(list) == 0 {
		return err
	}
	var listed outdir.Sums
	text, err := boundedfile.ReadIn(root, pluginLock, maxPluginLock)
	if err == nil {
		listed, err = parsePluginLock(text)
	}
	if err != nil {
		return notOurs(dir, []string{"it is not a plugin that this command made"})
	}
	now, err := outdir.Read(root, pluginLock, nil)
	if err != nil {
		return err
	}
	if changes := listed.Changes(now); len(changes) > 0 {
		return notOurs(dir, changes)
	}
	return nil
}

func notOurs(dir string, reasons []string) error {
	return cli.Failf(cli.CodeExists, "%s exists: %s", cli.Line(dir), cli.Line(cli.Some(reasons, 8))).
		WithHint("move it away, or choose another folder with --output")
}

// parsePluginLock returns the hashes of a plugin's files, by name.
func parsePluginLock(text []byte) (outdir.Sums, error) {
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, err
	}
	list := outdir.Recorded(rawjson.Get(doc, "files"))
	if len(list) == 0 {
		return nil, errors.New("no files")
	}
	return list, nil
}
