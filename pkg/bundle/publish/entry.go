package publish

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/product"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/userenv"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/weburl"
)

// A Product is a local file that a package registry or a release also contains.
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

// Open opens a product other than a bundle. It returns nil for a package that users do not start by its name, such as
// the programs for one system.
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

// formats are the formats of variables, by the types of fields.
var formats = map[string]string{"number": "number", "boolean": "boolean", "file": "filepath", "directory": "filepath"}

// variables returns the variables that pass the user's settings to the server.
func variables(meta json.RawMessage) (all []Variable) {
	for _, m := range userenv.Read("", meta) {
		field := rawjson.Path(meta, "user_config", m.Key)
		if field == nil {
			continue
		}
		initial := stage.Scalar(rawjson.Get(field, "default"))
		if strings.Contains(initial, "${") { // ${HOME} is for bundles
			initial = ""
		}
		all = append(all, Variable{
			Name: m.Variable, Description: cmp.Or(rawjson.TextOf(field, "description"), rawjson.TextOf(field, "title")),
			Format: formats[rawjson.TextOf(field, "type")], Default: initial,
			Required: rawjson.True(rawjson.Get(field, "required")), Secret: rawjson.True(rawjson.Get(field, "sensitive")),
		})
	}
	return all
}

// Addresses are the addresses of products that have no name in a registry: the URL of the bundle, and the name of the
// image.
type Addresses map[Kind]string

// NewEntry makes an entry of products. If name is "", the name comes from the products. Every product must belong to
// the server, and have the same version. The faults are the problems of the products.
func NewEntry(name string, products []*Product, addresses Addresses) (e *Entry, faults []string) {
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
		one := Package{Kind: p.Kind, Identifier: addresses[p.Kind], SHA256: p.SHA256}
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
	for kind, address := range addresses {
		if address != "" && !slices.ContainsFunc(e.Packages, func(p Package) bool { return p.Kind == kind }) {
			faults = append(faults, cli.Sprintf("%s: name the file of this product, too", address))
		}
	}
	return e, faults
}

// marks are the places where products name their server.
var marks = map[Kind]string{
	NPM: `"mcpName" in package.json`, PyPI: "mcp-name: in its description", OCI: "the label " + product.ServerLabel,
}

// foreign returns the reason why a product does not belong to a server, or "". A bundle belongs to each, because the
// entry has its hash. A wheel can name several servers.
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

// Find returns the products in a folder, or the operand itself if it is a file or a product.
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

// An Entry is a server in an MCP registry, with the packages that contain it. Its JSON is server.json.
type Entry struct {
	Name                        string // such as io.github.you/demo
	Title, Description, Version string
	Packages                    []Package
	Variables                   []Variable // set by users
}

// A Kind is a kind of packages, by its name in server.json.
type Kind string

// The kinds of packages.
const (
	MCPB Kind = "mcpb" // a file at an address
	NPM  Kind = "npm"
	PyPI Kind = "pypi"
	OCI  Kind = "oci" // a container image
)

// A Package is a source from which clients get a server.
type Package struct {
	Kind       Kind
	Identifier string // the name in its registry, or the address of a bundle
	Version    string // "" for bundles and images, whose identifiers contain it
	SHA256     string // of a bundle
}

// A Variable is a setting of the user.
type Variable struct {
	Name, Description, Format, Default string
	Required, Secret                   bool
}

// launchers are the programs that start packages.
var launchers = map[Kind]string{NPM: "npx", PyPI: "uvx", OCI: "docker"}

// JSON returns server.json. Bundles declare their variables themselves.
func (e *Entry) JSON() []byte {
	var j rawjson.Builder
	j.Object().Name("$schema").String("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json").
		Name("name").String(e.Name).Optional("title", e.Title).
		Name("description").String(e.Description).Name("version").String(e.Version).Name("packages").Array()
	for _, p := range e.Packages {
		j.Object().Name("registryType").String(string(p.Kind)).Name("identifier").String(p.Identifier).
			Optional("version", p.Version).Optional("fileSha256", p.SHA256).Optional("runtimeHint", launchers[p.Kind]).
			Name("transport").Object().Name("type").String("stdio").End()
		if p.Kind != MCPB && len(e.Variables) > 0 {
			j.Name("environmentVariables").Array()
			for _, v := range e.Variables {
				j.Object().Name("name").String(v.Name).Optional("description", v.Description).
					Optional("format", v.Format).Optional("default", v.Default).
					Name("isRequired").Bool(v.Required).Name("isSecret").Bool(v.Secret).End()
			}
			j.End()
		}
		j.End()
	}
	j.End().End()
	return append(rawjson.AppendIndent(nil, j.Bytes(), 0), '\n')
}

// The registry's limits on texts, in characters.
const (
	maxText    = 100
	maxVersion = 255
)

var (
	oneVersion = lazyregexp.New(`^[^\s^~<>=*|]+$`)
	// dotted matches a version in which the registry reads any x as a wildcard, even the x in 1.0.0-next.1.
	dotted = lazyregexp.New(`^(v?[0-9]+|[xX])(\.([0-9]+|[xX])){1,2}(-[0-9A-Za-z.-]+)?$`)
)

// CheckOptions returns an error for a name, or for the place of a package, that the registry would refuse. Only the
// official registry limits the hosts of bundles and images.
func (e *Entry) CheckOptions(isOfficial bool) (err error) {
	for _, p := range e.Packages {
		switch {
		case err != nil:
		case p.Kind == MCPB:
			err = checkAddress(p.Identifier, isOfficial)
		case p.Kind == OCI:
			err = checkImage(p.Identifier, isOfficial)
		}
	}
	if err == nil && !mcpb.IsServerName(e.Name) {
		err = cli.Usagef("--server-name must be like io.github.you/demo: %s", e.Name)
	}
	return err
}

// Faults returns the reasons why the registry would refuse the texts of the entry.
func (e *Entry) Faults() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, cli.Sprintf(format, args...)) }
	if n := utf8.RuneCountInString(e.Description); n < 1 || n > maxText {
		fault("the description has %d characters; the registry takes 1 to %d", n, maxText)
	}
	if n := utf8.RuneCountInString(e.Title); n > maxText || e.Title != "" && strings.TrimSpace(e.Title) == "" {
		fault("the title has %d characters, or only spaces; the registry takes 1 to %d", n, maxText)
	}
	versions := []string{e.Version}
	for _, p := range e.Packages {
		versions = append(versions, cmp.Or(p.Version, e.Version))
	}
	slices.Sort(versions)
	for _, v := range slices.Compact(versions) {
		if !oneVersion.MatchString(v) || len(v) > maxVersion || v == "latest" ||
			dotted.MatchString(v) && strings.ContainsAny(v, "xX") {
			fault("version %q: the registry refuses ranges, latest, an x as in 1.x or 1.0.0-next.1, and more than %d bytes",
				v, maxVersion)
		}
	}
	return faults
}

// checkImage returns an error for the name of an image that the registry would refuse.
func checkImage(name string, isOfficial bool) error {
	host, _, _ := strings.Cut(name, "/")
	_, tag, _ := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	switch err := weburl.CheckImage(name); {
	case name == "":
		return cli.Usagef("--image is needed: the name of the image in its registry, such as ghcr.io/you/demo:1.0.0")
	case err != nil:
		return cli.Usagef("--image: %v: %s", err, name)
	case tag == "" || tag == "latest":
		return cli.Usagef("--image must end with a version or a digest, such as ghcr.io/you/demo:1.0.0: %s", name)
	case isOfficial && !imageHost.MatchString(host):
		return cli.Usagef("--image: the official registry takes images of docker.io, ghcr.io, quay.io, mcr.microsoft.com, "+
			"*.pkg.dev and *.azurecr.io: %s", name)
	}
	return nil
}

// The hosts that the official registry accepts.
var (
	imageHost = lazyregexp.New(`^((registry-1\.|index\.)?docker\.io|ghcr\.io|quay\.io|mcr\.microsoft\.com|` +
		`.+\.pkg\.dev|.+\.azurecr\.io)$`)
	releaseFile = lazyregexp.New(`^((www\.)?github\.com/[A-Za-z0-9]([A-Za-z0-9-]{0,37}[A-Za-z0-9])?/[A-Za-z0-9._-]+` +
		`/releases/download/[^/]+/[^/]+|(www\.)?gitlab\.com(/[A-Za-z0-9._-]+)+/-/` +
		`(releases/[^/]+/downloads/[^/]+|package_files/[0-9]+/download))$`)
)

// checkAddress returns an error for the address of a bundle that the registry would refuse.
func checkAddress(address string, isOfficial bool) error {
	u, err := weburl.Parse(address)
	switch {
	case address == "":
		return cli.Usagef("--url and --server-name are needed: " +
			"the registry stores where a bundle is, and what it is called there")
	case err == weburl.ErrForm || u.Scheme != "https":
		return cli.Usagef("--url must begin with https://: %s", address)
	case u.User != nil || secrets.Text(address) != address:
		return cli.Usagef("--url contains a login or a secret, which the registry would publish")
	case err != nil:
		return cli.Usagef("--url: %v: %s", err, address)
	case !strings.Contains(strings.ToLower(address), "mcp"):
		return cli.Usagef("--url must contain \"mcp\", as the registry requires: %s", address)
	case isOfficial && !releaseFile.MatchString(strings.ToLower(u.Host)+u.Path):
		return cli.Usagef("--url: the official registry takes files of releases on GitHub and GitLab only, such as "+
			"https://github.com/you/demo-mcp/releases/download/v1.0.0/demo.mcpb: %s", address)
	}
	return nil
}

// CheckOwner returns an error if a person or organization of GitHub cannot publish under a name. Workflows of GitHub
// publish below io.github.OWNER only, and the case counts.
func CheckOwner(name, owner string) error {
	if namespace := "io.github." + owner; !strings.HasPrefix(name, namespace+"/") {
		return cli.Usagef("--server-name: a workflow of %s can publish %s/NAME only, not %s", owner, namespace, name)
	}
	return nil
}

// IsOfficial reports whether an address leads to the official registry.
func IsOfficial(base string) bool {
	u, err := url.Parse(base)
	official, _ := url.Parse(Official)
	return err == nil && strings.EqualFold(u.Host, official.Host)
}
