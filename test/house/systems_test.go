package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The types of all commands are correct on every system that they are built for. The test needs no
// compiled packages, so it takes seconds; make cross compiles the commands for each system.
func TestSystems(t *testing.T) {
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			goos, goarch, _ := strings.Cut(system, "/")
			if err := checkTypes(goos, goarch); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkTypes checks the types of the commands and their dependencies. Of packages from
// elsewhere it checks only the declarations.
func checkTypes(goos, goarch string) error {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap", "./cmd/...")
	list.Dir, list.Stderr = filepath.Join("..", ".."), os.Stderr
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	files := token.NewFileSet()
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			ImportPath, Dir string
			GoFiles         []string
			ImportMap       map[string]string
		}
		if err := d.Decode(&listed); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if listed.ImportPath == "unsafe" {
			continue
		}
		var parsed []*ast.File
		for _, name := range listed.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(listed.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			parsed = append(parsed, file)
		}
		config := types.Config{
			Importer: importerFunc(func(path string) (*types.Package, error) {
				if mapped, ok := listed.ImportMap[path]; ok {
					path = mapped
				}
				return checked[path], nil
			}),
			Sizes:            types.SizesFor("gc", goarch),
			IgnoreFuncBodies: !strings.HasPrefix(listed.ImportPath, module),
		}
		// A dependency is listed before the packages that import it.
		if checked[listed.ImportPath], err = config.Check(listed.ImportPath, files, parsed, nil); err != nil {
			return err
		}
	}
	if checked[module+"cmd/mcp-bash"] == nil {
		return fmt.Errorf("go list does not list the commands: %s", out[:min(len(out), 500)])
	}
	return nil
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
