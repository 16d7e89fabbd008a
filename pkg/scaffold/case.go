package scaffold

import (
	"context"
	"path/filepath"

	"mcp-bash/pkg/project"
)

// caseOf returns the file with the first test case of a tool, relative to the project's root.
func caseOf(template, tool, schemas string) file {
	f := render(template, tool, schemas)[0]
	f.path = project.TestsDir + "/" + f.path
	return f
}

// newCase returns the file with the first test case of a new tool, or nil if it exists and is kept.
func newCase(p *project.Project, r *Request) *file {
	if r.Kind != Tool {
		return nil
	}
	f := caseOf("case", r.Name, schemasFrom(p, filepath.Join(p.Root, project.TestsDir)))
	if !r.Force && isThere(filepath.Join(p.Root, filepath.FromSlash(f.path))) {
		return nil
	}
	return &f
}

// putCase writes a test case into a project.
func putCase(ctx context.Context, p *project.Project, f file) (err error) {
	at, err := openPlace(ctx, p.Root)
	if err != nil {
		return err
	}
	defer func() { at.close(err) }()
	return at.put(f)
}
