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

// rows are the layers, upper ones first. A package may import packages of lower
// rows only, never one of its own row (docs/ARCHITECTURE.md).
var rows = [][]string{
	{"cmd/mcp-bash", "cmd/mcp-runtool", "cmd/mcp-registry", "cmd/mcp-bundle", "cmd/mcp-scaffold", "cmd/mcp-doctor"},
	{"pkg/doctor"},
	{"pkg/server", "pkg/runtool", "pkg/bundle", "pkg/vendoring", "pkg/publish", "pkg/scaffold",
		"pkg/validate", "pkg/health", "pkg/clientconfig"},
	{"pkg/engine", "pkg/helper", "pkg/tree", "pkg/usage/ask", "pkg/wrap"},
	{"pkg/tool", "pkg/prompt", "pkg/resource", "pkg/completion", "pkg/registration"},
	{"pkg/sandbox"},
	{"pkg/builtin", "pkg/policy", "pkg/registry", "pkg/roots", "pkg/runtimes"},
	{"pkg/registry/declare"},
	{"pkg/registry/kinds"},
	{"pkg/registry/scan"},
	{"pkg/userfile"},
	{"pkg/registry/atomicfile", "pkg/registry/item"},
	{"pkg/registry/access", "pkg/registry/folder"},
	{"pkg/provider/echo", "pkg/provider/file", "pkg/provider/https", "pkg/provider/git", "pkg/provider/ui"},
	{"pkg/project/projecttest"},
	{"pkg/project", "pkg/mcpb", "schemas"},
	{
		"pkg/cli", "pkg/envfile", "pkg/finding", "pkg/gitignore", "pkg/handoff", "pkg/jq", "pkg/jsonedit", "pkg/jsonrpc",
		"pkg/mcp", "pkg/mcpapp", "pkg/media", "pkg/observe", "pkg/provider/web", "pkg/schema", "pkg/script", "pkg/scriptenv",
		"pkg/secrets",
		"pkg/swap", "pkg/tomledit", "pkg/toolnames",
		"pkg/uitemplate", "pkg/urimatch", "pkg/usage", "pkg/yamledit",
		"pkg/validate/bash32", "sdk", "lib", "providers",
	},
	{
		"pkg/boundedfile", "pkg/code", "pkg/confine", "pkg/ctxlock", "pkg/lazyregexp", "pkg/provider", "pkg/provider/hosts",
		"pkg/rawjson",
	},
}

// outside are the libraries a package may use beyond the standard one; "" for
// every package.
var outside = map[string][]string{
	"":            {"golang.org/x/sys"},
	"pkg/cli":     {"github.com/mattn/go-isatty", "github.com/peterbourgon/ff/v3"},
	"pkg/jq":      {"github.com/itchyny/gojq"},
	"pkg/schema":  {"github.com/google/jsonschema-go"},
	"pkg/mcpb":    {"github.com/klauspost/compress/flate", "golang.org/x/text/unicode/norm"},
	"pkg/confine": {"golang.org/x/net/bpf"},

	"pkg/validate/bash32": {"mvdan.cc/sh/v3/syntax"}, // in mcp-doctor only

	"pkg/provider/git": {"github.com/pjbgf/sha1cd"},
	"cmd/mcp-scaffold": {"github.com/rogpeppe/go-internal/diff"},
	"pkg/tomledit":     {"github.com/pelletier/go-toml/v2"},
	"pkg/yamledit":     {"go.yaml.in/yaml/v3"},
}

// exclusive is what only one package may import: processes are started in one
// place.
var exclusive = map[string]string{"os/exec": "pkg/script"}

// allowed are the exceptions to exclusive, with their reason.
var allowed = map[string]string{
	"cmd/mcp-bash/replace_windows.go": "Windows cannot put a sibling in our place",
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
			if rel == "test" || rel == "bench" || rel == "release" || rel == "examples" || rel == "docs" ||
				strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		pkg := path.Dir(rel)
		seen[pkg] = true
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
	for _, row := range rows {
		for _, pkg := range row {
			if !seen[pkg] {
				t.Errorf("%s is in the plan but not in the house", pkg)
			}
		}
	}
}

func checkImport(t *testing.T, file, pkg, name string) {
	own, isOwn := strings.CutPrefix(name, module)
	switch {
	case isOwn:
		from, to := rowOf(pkg), rowOf(own)
		if from < 0 || to < 0 {
			t.Errorf("%s imports %s: a package that is not in the plan", file, name)
		} else if to <= from {
			t.Errorf("%s imports %s, which is not below it", file, own)
		}
	case strings.Contains(strings.SplitN(name, "/", 2)[0], "."):
		if !isPart(outside[""], name) && !isPart(outside[pkg], name) {
			t.Errorf("%s imports %s: not one of its libraries", file, name)
		}
	}
	if owner, ok := exclusive[name]; ok && owner != pkg && allowed[file] == "" {
		t.Errorf("%s imports %s, which belongs to %s", file, name, owner)
	}
}

func isPart(libraries []string, name string) bool {
	return slices.ContainsFunc(libraries, func(lib string) bool { return name == lib || strings.HasPrefix(name, lib+"/") })
}

func rowOf(pkg string) int {
	for i, row := range rows {
		if slices.Contains(row, pkg) {
			return i
		}
	}
	return -1
}

// The plan in docs/ARCHITECTURE.md names the same packages.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, pkg := range row {
			if !strings.Contains(string(text), "`"+pkg+"`") {
				t.Errorf("docs/ARCHITECTURE.md does not mention `%s`", pkg)
			}
		}
	}
}
