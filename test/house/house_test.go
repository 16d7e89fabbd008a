// Package house tests the shape of the code: what may import what.
package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers lists the folders of packages, upper layers first. A package may import packages of the same folder and
// of lower layers, but not of another folder of its layer (docs/ARCHITECTURE.md). Go itself
// prevents cycles within a folder, and imports from another folder's internal/.
var layers = [][]string{
	{"cmd"},
	{"pkg/serve", "pkg/runtool", "pkg/check", "pkg/scaffold", "pkg/clients", "pkg/helper"},
	{"pkg/protocol"},
	{"pkg/engine", "pkg/bundle"},
	{"pkg/feature"},
	{"pkg/sandbox"},
	{"pkg/registry", "pkg/provider"},
	{"pkg/project"},
	{"pkg/auth", "pkg/events"},
	{"pkg/cli", "pkg/run", "pkg/shellscript", "pkg/wire", "schemas"},
	{"pkg/files"},
	{"pkg/text"},
	{"pkg/json", "pkg/clock", "sdk", "lib", "providers", "share"},
}

// outside are the libraries a package may use beyond the standard one; "" for
// every package.
var outside = map[string][]string{
	"":                  {"golang.org/x/sys"},
	"pkg/cli":           {"github.com/mattn/go-isatty", "github.com/peterbourgon/ff/v3", "golang.org/x/text/width"},
	"pkg/json/jq":       {"github.com/itchyny/gojq"},
	"pkg/json/jsonedit": {"github.com/tailscale/hujson"}, // in mcp-scaffold, mcp-registry and mcp-runtool only
	"pkg/json/schema":   {"github.com/google/jsonschema-go"},
	"pkg/bundle/mcpb":   {"github.com/klauspost/compress/flate", "golang.org/x/text/unicode/norm"},
	"pkg/run/confine":   {"golang.org/x/net/bpf"},
	"pkg/registry/item": {"golang.org/x/mod/semver"},

	"pkg/registry/requirements": {"golang.org/x/mod/semver"},
	"pkg/bundle/image": {"github.com/google/go-containerregistry/pkg/v1", // its types, in mcp-bundle only
		"github.com/klauspost/compress/gzip"},
	"pkg/bundle/npm": {"github.com/klauspost/compress/gzip"}, // likewise
	"pkg/bundle/publish": {"github.com/google/go-containerregistry/pkg/v1",
		"github.com/klauspost/compress/gzip"}, // likewise
	"pkg/bundle/internal/debian": {"github.com/ProtonMail/go-crypto/openpgp", "github.com/ulikunitz/xz",
		"golang.org/x/sync/errgroup"}, // likewise

	"pkg/check/doctor": {"golang.org/x/mod/semver"},

	"pkg/check/validate/internal/bash32": {"mvdan.cc/sh/v3/syntax"}, // in mcp-doctor only
	"pkg/shellscript":                    {"mvdan.cc/sh/v3/syntax"}, // in mcp-scaffold and mcp-bundle

	"pkg/auth/oidc": {"github.com/coreos/go-oidc/v3", "github.com/go-jose/go-jose/v4"},
	// in mcp-bash only
	"pkg/serve/httpd/internal/guard": {"golang.org/x/time/rate"},
	"pkg/protocol/console":           {"golang.org/x/time/rate"},

	"pkg/provider/git":              {"github.com/pjbgf/sha1cd"},
	"cmd/mcp-scaffold":              {"github.com/rogpeppe/go-internal/diff"},
	"pkg/runtool":                   {"github.com/rogpeppe/go-internal/diff"},
	"pkg/runtool/suite":             {"github.com/rogpeppe/go-internal/diff"},
	"pkg/clients/internal/tomledit": {"github.com/pelletier/go-toml/v2"},
	"pkg/clients/internal/yamledit": {"go.yaml.in/yaml/v3"},
	"pkg/json/yamljson":             {"go.yaml.in/yaml/v3"},
}

// exclusive are packages that only one package may import, with those below it. Processes are
// started in one place. Tools, resources and the registry do not know the protocol's revisions.
var exclusive = map[string]string{"os/exec": "pkg/run/script", module + "pkg/wire/revision": "pkg/protocol"}

// allowed are the exceptions to exclusive, with their reason.
var allowed = map[string]string{
	"cmd/mcp-bash/request.go": "it is a client",
}

const module = "mcp-bash/"

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "test" || rel == "bench" || rel == "release" || rel == "otel" || rel == "examples" || rel == "docs" ||
				strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		pkg := path.Dir(rel)
		seen[folderOf(pkg)] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			checkImport(t, rel, pkg, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		for _, folder := range layer {
			if !seen[folder] {
				t.Errorf("%s is in the plan but not in the house", folder)
			}
		}
	}
}

func checkImport(t *testing.T, file, pkg, name string) {
	own, isOwn := strings.CutPrefix(name, module)
	switch {
	case isOwn:
		from, to := folderOf(pkg), folderOf(own)
		if layerOf(from) < 0 || layerOf(to) < 0 {
			t.Errorf("%s imports %s: a folder that is not in the plan", file, name)
		} else if from != to && layerOf(to) <= layerOf(from) {
			t.Errorf("%s imports %s, which is not below it", file, own)
		}
	case strings.Contains(strings.SplitN(name, "/", 2)[0], "."):
		if !isPart(outside[""], name) && !isPart(outside[pkg], name) {
			t.Errorf("%s imports %s: not one of its libraries", file, name)
		}
	}
	if owner, ok := exclusive[name]; ok && !isPart([]string{owner}, pkg) && allowed[file] == "" {
		t.Errorf("%s imports %s, which belongs to %s", file, name, owner)
	}
}

func isPart(libraries []string, name string) bool {
	return slices.ContainsFunc(libraries, func(lib string) bool {
		return name == lib || strings.HasPrefix(name,
			lib+"/")
	})
}

// folderOf is the folder of a package: "pkg/run" for "pkg/run/script".
func folderOf(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	if parts[0] == "pkg" {
		return path.Join(parts[:min(2, len(parts))]...)
	}
	return parts[0]
}

func layerOf(folder string) int {
	return slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, folder) })
}

// The plan in docs/ARCHITECTURE.md names the same folders.
func TestArchitectureNamesEveryFolder(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		for _, folder := range layer {
			if !strings.Contains(string(text), "`"+folder+"`") {
				t.Errorf("docs/ARCHITECTURE.md does not mention `%s`", folder)
			}
		}
	}
}
