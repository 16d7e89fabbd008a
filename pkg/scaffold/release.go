package scaffold

import (
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// planRelease is plan for the workflow that releases the project (CLI-612). The packages get the item's name, else the
// project's. A line of the template that begins with "?PART " belongs to a part that can be left out.
func planRelease(p *project.Project, r *Request) (dir string, files []file, err error) {
	if r.Name == "" {
		r.Name = p.Meta.Name
	}
	if err := checkName(string(Release), r.Name); err != nil {
		return "", nil, err
	} else if r.Name != strings.ToLower(r.Name) {
		return "", nil, cli.Usagef("npm and container registries need a name in lower case; give one")
	}
	known := ""
	releases := project.Releases(p.Env, project.InstalledHome(p.Env))
	if releases != "" && !strings.ContainsAny(releases, "'\n") {
		known = " || '" + releases + "'"
	}
	f := render(string(Release), r.Name, "")[0]
	without := map[string]bool{"npm": r.NoNPM, "pypi": r.NoPyPI, "image": r.NoImage}
	var b strings.Builder
	values := strings.NewReplacer("<version>", cli.Version, "<known>", known)
	for line := range strings.Lines(f.text) {
		if rest, conditional := strings.CutPrefix(line, "?"); conditional {
			part, content, _ := strings.Cut(rest, " ")
			if line = content; without[part] {
				continue
			}
		}
		values.WriteString(&b, line)
	}
	f.text = b.String()
	return filepath.Join(p.Root, ".github", "workflows"), []file{f}, nil
}
