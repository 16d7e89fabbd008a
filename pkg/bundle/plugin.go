package bundle

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/swap"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// A Format is a form of what clients install.
type Format string

// The formats of [Make]. A plugin is a folder or an archive that agents install (contract plugins).
const (
	Bundle        Format = "mcpb"
	PluginArchive Format = "plugin"
	PluginFolder  Format = "plugin-folder" // Output is the folder itself, and Archive is for the others
)

func (f Format) isPlugin() bool { return f == PluginArchive || f == PluginFolder }

// Places in a plugin (PL-20).
const (
	skillsDir  = "skills"
	readmeName = "README.md"
	pluginLock = serverDir + "/" + runtimes.Dir + "/plugin.json"
)

// maxReadme limits a README, and maxPluginLock the list of a plugin's files, in bytes.
const (
	maxReadme     = 1 << 20
	maxPluginLock = 16 << 20
)

// collectPlugin adds the files at the top of a plugin that are the project's: skills, icon, README and licence.
func (b *builder) collectPlugin(root *source) error {
	if _, err := root.root.Lstat(skillsDir); err == nil {
		if err := b.content.tree(root, skillsDir, skillsDir); err != nil {
			return err
		}
	}
	if err := b.addMainIcon(root, &b.images); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		stem, end, _ := strings.Cut(strings.ToLower(name), ".")
		isText := end == "" || end == "md" || end == "txt"
		isLicence := isText && (stem == "license" || stem == "licence" || stem == "copying" || stem == "notice")
		if e.IsDir() || name != readmeName && !isLicence {
			continue
		}
		if err := b.content.tree(root, name, name); err != nil {
			return err
		}
		b.hasLicence = b.hasLicence || isLicence && stem != "notice"
	}
	return nil
}

func (b *builder) addManifests() error {
	p := b.describe()
	if len(b.say.faults) > 0 {
		return errValidation
	}
	files := p.Files()
	if ok, _ := b.content.names.Has(readmeName); !ok {
		files = append(files, mcpb.Bytes(readmeName, false, []byte(p.Readme())))
	} else if text, err := b.p.ReadFile(filepath.Join(b.p.Root, readmeName), maxReadme); err == nil &&
		plugins.IsShort(text) {
		b.say.warn("README.md has fewer than 40 words; the plugin directory of Claude Code refuses it")
	}
	if !b.hasLicence && p.License == "" {
		b.say.warnHint("the plugin has no licence", `add a file LICENSE, or "license" in server.d/server.meta.json`)
	}
	if p.Icon == "" {
		b.say.note("No icon.png; agents show one with 512x512 pixels or more")
	}
	for _, f := range files {
		if err := b.content.add(f); err != nil {
			b.say.fault("%v", err)
			return errValidation
		}
	}
	return nil
}

// describe returns the description for the manifests. It reports values that they cannot have.
func (b *builder) describe() *plugins.Plugin {
	c, id := b.config, b.id
	p := &plugins.Plugin{
		Name: plugins.Name(id.name), Title: id.title, Version: id.version, Description: id.description,
		Author:     plugins.Author{Name: id.author, Email: id.email, URL: id.url},
		Homepage:   webURL(cmp.Or(c.text("MCPB_HOMEPAGE", "homepage"), c.text("", "websiteUrl"))),
		Repository: webURL(id.repository), License: c.text("MCPB_LICENSE", "license"),
		Keywords: c.words("MCPB_KEYWORDS", "keywords"), Icon: b.images.icon,
		Skills: b.content.has(skillsDir + "/"), Static: b.static,
		Windows: slices.ContainsFunc(b.binaries, func(bin runtimes.Binary) bool { return bin.OS == "windows" }),
	}
	switch {
	case p.Name == "":
		b.say.fault("no agent accepts a plugin of the name %q; give another one, of letters and digits, with --name", id.name)
	case p.Name != id.name:
		b.say.note("The plugin's name is %s", p.Name)
	}
	mapped := map[string]bool{}
	for _, m := range b.user.env {
		p.Fields = append(p.Fields, plugins.Field{Key: m.Key, Variable: m.Variable, Value: rawjson.Get(b.user.fields, m.Key)})
		mapped[m.Key] = true
	}
	for _, field := range rawjson.Members(b.user.fields) {
		if !mapped[field.Name] {
			b.say.warn("user_config field %q is not in the plugin: it is mapped to no variable", field.Name)
		}
	}
	for _, t := range b.offered.tools {
		p.Tools = append(p.Tools, plugins.Tool{Name: rawjson.TextOf(t, "name"),
			Description: rawjson.TextOf(t, "description")})
	}
	return p
}

// webURL returns a URL that is an address in the web, or "".
func webURL(text string) string {
	if mcpb.IsURL(text) && (strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")) {
		return text
	}
	return ""
}

// checkPlugin checks the content of a plugin, as check does that of a bundle.
func (b *builder) checkPlugin() {
	if slices.ContainsFunc(b.binaries, func(bin runtimes.Binary) bool { return bin.OS == "windows" }) {
		b.checkWindows(nil)
	}
	b.checkContent()
}

// finishPlugin adds the list of the plugin's files, and returns all of them. Names are sorted.
func (b *builder) finishPlugin(ctx context.Context, r *Result) ([]mcpb.File, error) {
	files := b.content.files
	mcpb.Sort(files)
	var list rawjson.Builder
	list.Object().Name("name").String(plugins.Name(b.id.name)).Name("version").String(b.id.version).Name("files").Object()
	whole := sha256.New()
	for _, f := range files {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		sum, err := f.Sum()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		}
		list.Name(f.Name).String(sum)
		fmt.Fprintf(whole, "%s:%s\n", f.Name, sum)
		r.Bytes += f.Size
	}
	lock := mcpb.Bytes(pluginLock, false, append(rawjson.AppendIndent(nil, list.End().End().Bytes(), 0), '\n'))
	if err := b.content.names.Add(pluginLock); err != nil {
		return nil, err
	}
	r.SHA256, r.Files = hex.EncodeToString(whole.Sum(nil)), len(files)+1
	files = append(slices.Clone(files), lock)
	mcpb.Sort(files)
	return files, nil
}

// writeFolder writes a plugin under another name, which then takes the place of the old one (PL-14).
func (b *builder) writeFolder(ctx context.Context, files []mcpb.File) error {
	parent, name := filepath.Split(b.o.Output)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	dir, err := os.OpenRoot(parent)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer dir.Close()
	newName, oldName := "."+name+".new-", "."+name+".old-"
	project.Sweep(dir, newName)
	project.Sweep(dir, oldName)
	fresh := newName + rand.Text()
	if err := dir.Mkdir(fresh, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer dir.RemoveAll(fresh) // no longer exists after it was renamed
	root, err := dir.OpenRoot(fresh)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if _, _, err := f.Create(root, f.Name, true); err != nil {
			return fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		}
	}
	if err := checkFolder(b.o.Output); err != nil { // somebody may have changed it since
		return err
	}
	old, err := swap.Replace(b.o.Output, filepath.Join(parent, fresh), filepath.Join(parent, oldName+rand.Text()))
	if err != nil || old == "" {
		return err
	}
	return dir.RemoveAll(filepath.Base(old))
}

// checkFolder returns an error for a folder that is not one of our plugins, unchanged (PL-14).
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
	listed, err := readPluginLock(root)
	if err != nil {
		return notOurs(dir, []string{"it is not a plugin that this command made"})
	}
	var changes []string
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch want, known := listed[name]; {
		case err != nil || d.IsDir() || name == pluginLock:
			return err
		case !known:
			changes = append(changes, name+" is new")
		case !d.Type().IsRegular():
			changes = append(changes, name+" is changed")
		default:
			sum, err := mcpb.FileIn(root, name).Sum()
			if err != nil {
				return err
			}
			if sum != want {
				changes = append(changes, name+" is changed")
			}
		}
		delete(listed, name)
		return nil
	})
	if err != nil {
		return err
	}
	for name := range listed {
		changes = append(changes, name+" is missing")
	}
	if slices.Sort(changes); len(changes) > 0 {
		return notOurs(dir, changes)
	}
	return nil
}

func notOurs(dir string, reasons []string) error {
	return cli.Failf(cli.CodeExists, "%s exists: %s", cli.Line(dir), cli.Line(cli.Some(reasons, shown))).
		WithHint("move it away, or choose another folder with --output")
}

// readPluginLock returns the hashes of a plugin's files, by name.
func readPluginLock(root *os.Root) (map[string]string, error) {
	text, err := boundedfile.ReadIn(root, pluginLock, maxPluginLock)
	if err != nil {
		return nil, err
	}
	return parsePluginLock(text)
}

func parsePluginLock(text []byte) (map[string]string, error) {
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for _, m := range rawjson.Members(rawjson.Get(doc, "files")) {
		list[m.Name], _ = rawjson.Text(m.Value)
	}
	if len(list) == 0 {
		return nil, errors.New("no files")
	}
	return list, nil
}
