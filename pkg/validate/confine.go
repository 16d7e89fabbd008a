package validate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/script"
)

// confine checks what a tool may use beyond its capabilities (CF-17).
func (c *check) confine(doc json.RawMessage, label string) {
	extras := access.DeclarationOf(doc).Extras
	resolve := func(path string) string { return access.Resolve(path, c.p.Root, c.p.Env["HOME"]) }
	missing := func(kind, path string) {
		if _, err := os.Lstat(resolve(path)); err != nil {
			c.at("confine.missing", label, "confine."+kind+": "+path+" is not there")
		}
	}
	for _, path := range extras.Read {
		missing("read", path)
	}
	protected := sandbox.RunsNext(c.p)
	for _, path := range extras.Write {
		real, err := filepath.EvalSymlinks(resolve(path))
		if err == nil && slices.ContainsFunc(protected, func(dir string) bool { return project.Within(dir, real) }) {
			c.at("confine.no_effect", label, "confine.write: "+path+" is what runs next")
			continue
		}
		missing("write", path)
	}
	for _, program := range extras.Exec {
		if strings.ContainsRune(program, '/') || script.LookPath(program, c.p.ToolBase()["PATH"]) == "" {
			missing("exec", program)
		}
	}
}
