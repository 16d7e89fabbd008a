package publish

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/product"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/userenv"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Product is a file of the author that a package registry, or a release, has too.
type Product struct {
	Kind Kind
	File string
	product.About
	SHA256   string // of a bundle
	Manifest json.RawMessage

	variables []Variable
}

// OpenBundle checks a bundle. The error is for a file that cannot be read, faults are the problems of the bundle.
func OpenBundle(file string) (b *Product, faults []mcpb.Fault, err error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	report, err := mcpb.CheckFile(f)
	if err != nil {
		return nil, nil, err
	}
	if report.Archive == nil {
		return nil, nil, errors.New("not a bundle")
	}
	m := report.Manifest
	return &Product{
		Kind: MCPB, File: file, Manifest: m, SHA256: report.SHA256, About: product.About{Name: rawjson.TextOf(m, "name"),
			Version: rawjson.TextOf(m, "version"), Title: rawjson.TextOf(m, "display_name"),
			Description: rawjson.TextOf(m, "description")},
	}, report.Faults, nil
}

// packaged are the kinds of products that registries of packages have.
var packaged = map[product.Kind]Kind{product.NPM: NPM, product.Wheel: PyPI, product.Image: OCI}

// Open opens another product than a bundle. It returns nil for a package that nobody starts by its name, such as the
// programs for one system.
func Open(env project.Env, file string) (*Product, error) {
	opened, err := product.Open(env, file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	p := &Product{Kind: packaged[opened.Kind], File: file}
	if p.Kind == "" {
		return nil, fmt.Errorf("a %s; this needs %s", opened.Kind, strings.Join(Endings, ", "))
	}
	if p.About, err = opened.About(); err != nil {
		return nil, err
	}
	if opened.Dir == "" { // without a project
		if isStarted := rawjson.Get(opened.Document, "bin") != nil; p.Kind == NPM && len(p.Servers) == 0 && !isStarted {
			return nil, nil
		}
		return p, nil
	}
	meta, err := boundedfile.Read(filepath.Join(opened.Dir, project.Marker), mcpb.MaxManifest)
	if err == nil {
		meta, err = rawjson.Check(meta)
	}
	p.variables = variables(meta)
	return p, err
}

// variables returns the variables by which the settings of a project's user reach the server.
func variables(meta json.RawMessage) (all []Variable) {
	fields := rawjson.Get(meta, "user_config")
	for _, m := range userenv.Read("", meta) {
		if field := rawjson.Get(fields, m.Key); field != nil {
			all = append(all, variable(m.Variable, field))
		}
	}
	return all
}

// formats are the formats of variables, by the types of fields.
var formats = map[string]string{"number": "number", "boolean": "boolean", "file": "filepath", "directory": "filepath"}

func variable(name string, field json.RawMessage) Variable {
	initial := stage.Scalar(rawjson.Get(field, "default"))
	if strings.Contains(initial, "${") { // ${HOME} is for bundles
		initial = ""
	}
	return Variable{
		Name: name, Description: cmp.Or(rawjson.TextOf(field, "description"), rawjson.TextOf(field, "title")),
		Format: formats[rawjson.TextOf(field, "type")], Default: initial,
		Required: rawjson.True(rawjson.Get(field, "required")), Secret: rawjson.True(rawjson.Get(field, "sensitive")),
	}
}

// Places are where clients find products that have no name in a registry: the address of the bundle, and the name of
// the image.
type Places map[Kind]string

// NewEntry makes an entry of products, under a name, or under that of the products for "". Every product must belong to
// the server, and have the same version. The faults are the problems of the products.
func NewEntry(name string, products []*Product, places Places) (e *Entry, faults []string) {
	e = &Entry{Name: name}
	slices.SortStableFunc(products, func(a, b *Product) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, p := range products { // a wheel, whose version has another form, is last
		if e.Name == "" && len(p.Servers) > 0 {
			e.Name = p.Servers[0]
		}
		e.Title, e.Description = cmp.Or(e.Title, p.Title), cmp.Or(e.Description, p.Description)
		e.Version = cmp.Or(e.Version, p.Version)
		if len(e.Variables) == 0 {
			e.Variables = p.variables
		}
	}
	for _, p := range products {
		if p.Version != "" && plainVersion(p.Version) != plainVersion(e.Version) {
			faults = append(faults, cli.Sprintf("%s has version %s, and another product has %s", p.File, p.Version, e.Version))
		}
		if reason := p.foreign(e.Name); reason != "" {
			faults = append(faults, reason)
		}
		one := Package{Kind: p.Kind, Identifier: places[p.Kind], SHA256: p.SHA256}
		if p.Kind == NPM || p.Kind == PyPI {
			one.Identifier, one.Version = p.Name, p.Version
		}
		same := slices.IndexFunc(e.Packages, func(o Package) bool { return o.Kind == one.Kind })
		switch {
		case same < 0:
			e.Packages = append(e.Packages, one)
		case e.Packages[same] != one: // wheels for several systems are one package
			faults = append(faults, cli.Sprintf("%s: a second package of the kind %s; name the files of one version", p.File,
				one.Kind))
		}
	}
	for kind, place := range places {
		if place != "" && !slices.ContainsFunc(e.Packages, func(p Package) bool { return p.Kind == kind }) {
			faults = append(faults, cli.Sprintf("%s: name the file of this product, too", place))
		}
	}
	return e, faults
}

// marks are the places where products name their server.
var marks = map[Kind]string{
	NPM: `"mcpName" in package.json`, PyPI: "mcp-name: in its description", OCI: "the label " + product.ServerLabel,
}

// foreign returns the reason for which a product does not belong to a server, or "". A bundle belongs to each, because
// the entry has its hash. A wheel can name several servers.
func (p *Product) foreign(server string) string {
	if p.Kind == MCPB || slices.Contains(p.Servers, server) {
		return ""
	}
	return cli.Sprintf("%s: %s is %q, not %q; make it with --server-name %s", p.File, marks[p.Kind],
		strings.Join(p.Servers, " "), server, server)
}

// A wheel has the version 1.0.0rc1 if other products have 1.0.0-rc.1.
var (
	separator  = lazyregexp.New(`[._-]*(a|b|rc|dev|post)[._-]*`)
	preRelease = strings.NewReplacer("alpha", "a", "beta", "b", "preview", "rc", "pre", "rc")
)

// plainVersion returns the common form of versions of wheels and other products.
func plainVersion(version string) string {
	return separator.ReplaceAllString(preRelease.Replace(strings.ToLower(version)), "$1")
}

// Endings are the endings of products that are files.
var Endings = []string{".mcpb", ".tgz", ".whl", ".tar"}

// Find returns the products that an operand names: itself, or those in a folder that is not one.
func Find(operand string) (files []string, err error) {
	if info, err := os.Stat(operand); err != nil || !info.IsDir() || isLayout(operand) {
		return []string{operand}, nil
	}
	entries, err := os.ReadDir(operand)
	for _, e := range entries {
		file := filepath.Join(operand, e.Name())
		if slices.Contains(Endings, filepath.Ext(file)) || e.IsDir() && isLayout(file) {
			files = append(files, file)
		}
	}
	return files, err
}

// isLayout reports whether a folder is the OCI layout of an image.
func isLayout(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "oci-layout"))
	return err == nil
}
