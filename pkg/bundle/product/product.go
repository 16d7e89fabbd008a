// Package product opens products and project folders to compare them (LOCK-20 to LOCK-22). It finds the kind of a
// product, the hashes of its files, and the project in it. It runs nothing.
//
// Products are untrusted. Names, sizes and the number of files are limited as in bundles, and no name leads out. Links
// are refused wherever a project could follow them.
package product

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/image"
	"mcp-bash/pkg/bundle/mcpb"
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
	Files    map[string]File // by name; of an image, its project, its programs of the server, and its layers
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
// the product, because that is what programs install.
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
			documents[i], err = readFile(f)
		}
		if f.Name == metaName {
			meta, err = readFile(f)
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
		prefix := ""
		for _, one := range projects {
			if !form.project.MatchString(one) {
				continue
			}
			if prefix != "" {
				return errTwo
			}
			prefix = one
		}
		if prefix == "" && s.dir != "" {
			continue // a project can have such a file
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

// readFile returns the content of a document.
func readFile(f mcpb.File) ([]byte, error) {
	if f.Size > mcpb.MaxManifest {
		return nil, fmt.Errorf("%s: larger than %d bytes", f.Name, mcpb.MaxManifest)
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, f.Size))
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
		err := names.Add(f.Name)
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
