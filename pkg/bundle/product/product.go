// Package product opens products and project folders to compare them. It finds the kind of a product, the hashes of its
// files, and the project in it. It runs nothing.
//
// Products are untrusted. Names, sizes and the number of files are limited as in bundles, and no name leads out. Links
// are refused wherever a project could follow them.
package product

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/image"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Kind is a kind of product.
type Kind string

// The kinds. A folder that is not a product is a project.
const (
	Bundle      Kind = "bundle"
	kindPlugin  Kind = "plugin"
	NPM         Kind = "npm package"
	Wheel       Kind = "wheel"
	Image       Kind = "image"
	kindProject Kind = "project"
)

// errUnknown is the error for other files and folders.
var errUnknown = errors.New("not a bundle, a plugin, an npm package, a wheel, an image or a project")

// A File is a file of a product.
type File struct {
	Size   int64
	Exec   bool
	SHA256 string
}

// A Product is an open product.
type Product struct {
	Kind     Kind
	Document []byte          // manifest.json, plugin.json, package.json, METADATA, or an image's configuration
	Files    map[string]File // by name; for an image only its project, the server's programs and its layers
	Prefix   string          // of the names of the project's files, such as "server/"; "" for a project
	SHA256   string          // of the file; "" for a folder
	Dir      string          // a folder with the project's files; "" without a project, as in a runtime package
	work     *project.TempDir
}

// Open opens a product. The caller must call Close.
func Open(env project.Env, file string) (*Product, error) {
	s, err := openSource(file)
	if err != nil {
		return nil, err
	}
	defer s.close()
	p := &Product{Files: map[string]File{}, SHA256: s.sha256}
	if err := p.recognize(s); err != nil {
		return nil, err
	}
	if p.work, err = project.MakeWorkDir(env); err == nil {
		err = p.read(s)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close removes the copy of the project's files.
func (p *Product) Close() {
	if p.work != nil {
		p.work.Remove()
	}
}

// metaName is a file of every project in a product.
const metaName = "server.d/server.meta.json"

// forms are the products that are archives or folders: the name of the document, and the folder of the project.
var forms = []struct {
	kind              Kind
	document, project *lazyregexp.Regexp
}{
	{kindPlugin, lazyregexp.New(`^\.claude-plugin/plugin\.json$`), lazyregexp.New(`^server/$`)},
	{Bundle, lazyregexp.New(`^manifest\.json$`), lazyregexp.New(`^server/$`)},
	{NPM, lazyregexp.New(`^package\.json$`), lazyregexp.New(`^(server|project)/$`)},
	{Wheel, lazyregexp.New(`^[^/]+\.dist-info/METADATA$`),
		lazyregexp.New(`^[^/]+\.data/data/share/[^/]+/project/$`)},
}

var errTwo = errors.New("two documents or two projects, of which programs may install either")

// recognize sets the kind, the document and the prefix. A folder that has the files of a product and of a project is
// the product, because programs install products.
func (p *Product) recognize(s *source) error {
	if s.image != nil {
		p.Kind, p.Document, p.Prefix = Image, s.image, image.Project
		return nil
	}
	var projects []string
	documents := make([][]byte, len(forms))
	var meta []byte
	err := s.each(func(f mcpb.File) (err error) {
		if prefix, ok := strings.CutSuffix(f.Name, metaName); ok {
			projects = append(projects, prefix)
		}
		for i, form := range forms {
			if !form.document.MatchString(f.Name) {
				continue
			}
			if documents[i] != nil {
				return errTwo
			}
			documents[i], err = f.Read(mcpb.MaxManifest)
		}
		if f.Name == metaName {
			meta, err = f.Read(mcpb.MaxManifest)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, form := range forms {
		if documents[i] == nil {
			continue
		}
		isOther := func(prefix string) bool { return !form.project.MatchString(prefix) }
		its := slices.DeleteFunc(slices.Clone(projects), isOther)
		if len(its) > 1 {
			return errTwo
		}
		prefix := strings.Join(its, "")
		if prefix == "" && s.dir != "" {
			continue // projects can contain such a file, too
		}
		if form.kind == NPM && prefix != projectOf(documents[i]) {
			return errTwo
		}
		p.Kind, p.Document, p.Prefix = form.kind, documents[i], prefix
		return nil
	}
	if !s.isProject {
		return errUnknown
	}
	p.Kind, p.Document = kindProject, meta
	return nil
}

// projectOf returns the folder of the project that an npm package names, with a slash at its end.
func projectOf(document []byte) string {
	doc, err := rawjson.Check(document)
	dir := rawjson.TextOf(rawjson.Get(doc, "mcpBash"), "project")
	if err != nil || dir == "." || !fs.ValidPath(dir) {
		return ""
	}
	return dir + "/"
}

// read reads all files, and copies those of the project unless the product is a folder.
func (p *Product) read(s *source) error {
	isCopied := s.dir == "" && p.Prefix != ""
	switch {
	case isCopied:
		p.Dir = filepath.Join(p.work.Path, "project")
	case s.isProject || p.Prefix != "":
		p.Dir = filepath.Join(s.dir, filepath.FromSlash(p.Prefix))
	}
	work, err := os.OpenRoot(p.work.Path)
	if err != nil {
		return err
	}
	defer work.Close()
	var names mcpb.Names
	total := int64(0)
	return s.each(func(f mcpb.File) error {
		if total += f.Size; total > mcpb.MaxTotal || len(p.Files) == mcpb.MaxEntries {
			return fmt.Errorf("more than %d MB or %d files", mcpb.MaxTotal>>20, mcpb.MaxEntries)
		}
		err := names.Add(f)
		if err != nil && p.Kind != kindProject {
			return err
		}
		one := File{Size: f.Size, Exec: f.Exec}
		if name, ok := strings.CutPrefix(f.Name, p.Prefix); ok && isCopied {
			one.SHA256, _, err = f.Create(work, path.Join("project", name), false)
		} else {
			one.SHA256, err = f.Sum()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, fsys.Cause(err))
		}
		p.Files[f.Name] = one
		return nil
	})
}

// A source has the files of a product.
type source struct {
	dir       string // the path of a folder that is not an image, or ""
	sha256    string // of a file
	isProject bool   // the folder has a project at its top
	image     []byte // the configuration of an image, or nil
	each      func(visit func(mcpb.File) error) error
	close     func() error
}

func openSource(file string) (s *source, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(file)
	}
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, err
	}
	s = &source{close: f.Close}
	whole := func() *io.SectionReader { return io.NewSectionReader(f, 0, info.Size()) }
	content := mcpb.File{Open: func() (io.ReadCloser, error) { return io.NopCloser(whole()), nil }}
	if s.sha256, err = content.Sum(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	head := make([]byte, 2)
	f.ReadAt(head, 0) // after an error, head matches no product
	switch string(head) {
	case "PK":
		var a *mcpb.Archive
		if a, err = mcpb.Read(f, info.Size()); err == nil {
			s.each = a.Each
		}
	case "\x1f\x8b":
		s.each = func(visit func(mcpb.File) error) error {
			return image.EachOfTar(whole(), func(h *tar.Header, f mcpb.File) error { return inPackage(h, f, visit) })
		}
	default:
		var open image.Opener
		if open, err = image.InTar(whole()); err == nil {
			s.image, s.each, err = image.Read(open)
		}
	}
	if errors.Is(err, image.ErrNoLayout) {
		err = errUnknown
	}
	if err != nil {
		f.Close()
	}
	return s, err
}

func openFolder(dir string) (*source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &source{close: root.Close}
	if _, err := root.Lstat("oci-layout"); err == nil {
		s.image, s.each, err = image.Read(func(name string) (io.ReadCloser, error) { return boundedfile.OpenIn(root, name) })
		if err != nil {
			root.Close()
		}
		return s, err
	}
	_, err = root.Lstat(metaName)
	s.dir, s.isProject = dir, err == nil
	s.each = func(visit func(mcpb.File) error) error {
		return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == "." {
				return err
			}
			return s.inFolder(root, name, d, visit)
		})
	}
	return s, nil
}

// inFolder visits a file of a folder. It skips the files of a project that a bundle leaves out. A link has the path of
// its target as content.
func (s *source) inFolder(root *os.Root, name string, d fs.DirEntry, visit func(mcpb.File) error) error {
	switch {
	case s.isProject && stage.LeavesOut(name, d.IsDir()):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir():
		return nil
	case s.isProject && d.Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		return errors.Join(err, visit(mcpb.Bytes(name, false, []byte("link to "+target))))
	case !d.Type().IsRegular():
		return fmt.Errorf("%s: not a regular file", name)
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	f := mcpb.FileIn(root, name)
	f.Exec, f.Size = info.Mode()&0o111 != 0, info.Size()
	return visit(f)
}

// inPackage visits a file of an npm package.
func inPackage(h *tar.Header, f mcpb.File, visit func(mcpb.File) error) error {
	name, ok := strings.CutPrefix(path.Clean(h.Name), "package/")
	switch {
	case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case !ok || h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%q: not a regular file in the folder package", h.Name)
	}
	f.Name = name
	return visit(f)
}

// An About is the description of a product in its document. Its texts are untrusted.
type About struct {
	Name, Version      string
	Title, Description string
	Servers            []string // the server names for the MCP registry
}

// ServerLabel is the label of an image with the name of its server.
const ServerLabel = "io.modelcontextprotocol.server.name"

// serverMark matches the name of a server in the description of a wheel. The registry reads the name up to the first
// character that names cannot have, or to the end of a comment.
var serverMark = lazyregexp.New(`mcp-name: ([A-Za-z0-9._/-]+?)(?:-->|--!>|[^A-Za-z0-9._/-]|$)`)

// About reads the document of the product.
func (p *Product) About() (a About, err error) {
	if p.Kind == Wheel {
		return readWheel(p.Document), nil
	}
	doc, err := rawjson.Check(p.Document)
	if err != nil {
		return a, fmt.Errorf("the document of the %s: %w", p.Kind, err)
	}
	member := "mcpName"
	text := func(name string) string { return rawjson.TextOf(doc, name) }
	if p.Kind == Image {
		doc = rawjson.Get(rawjson.Get(doc, "config"), "Labels")
		text = func(name string) string { return rawjson.TextOf(doc, "org.opencontainers.image."+name) }
		member = ServerLabel
	}
	a = About{Name: text("name"), Version: text("version"), Description: text("description"),
		Title: cmp.Or(text("title"), text("display_name"), text("displayName"))}
	if server := rawjson.TextOf(doc, member); server != "" {
		a.Servers = []string{server}
	}
	return a, nil
}

// readWheel reads the METADATA of a wheel: lines of the form "Name: value", and the description after an empty line.
func readWheel(text []byte) (a About) {
	head, description, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "Name":
			a.Name = value
		case "Version":
			a.Version = value
		case "Summary":
			a.Description = value
		}
	}
	for _, m := range serverMark.FindAllStringSubmatch(description, -1) {
		a.Servers = append(a.Servers, m[1])
	}
	return a
}
