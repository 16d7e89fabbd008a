package clientconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/lazyregexp"
	"mcp-bash/pkg/project"
)

// A Scope says for whom a client's file counts.
type Scope string

// The scopes; "" is that of the user where the client has it.
const (
	UserScope    Scope = "user"
	ProjectScope Scope = "project"
)

// A Place is where clients' files are looked for.
type Place struct {
	System string // as runtime.GOOS says it
	Env    project.Env
	Root   string // of the project, whose own file it is in the project's scope
}

// A target is the file to be edited.
type target struct {
	path   string
	inside string // no link leads out of this directory; "": any may be followed
}

// target finds the client's file.
func (r Request) target() (target, error) {
	c := r.Client
	if r.File != "" {
		path, err := filepath.Abs(r.File)
		return target{path: path}, err
	}
	user := c.user.on(r.Place.System)
	if r.Scope == ProjectScope || r.Scope == "" && user == nil && c.project != nil {
		if c.project == nil {
			return target{}, cli.Failf(cli.CodeNotFound, "%s has no file for a project; leave out --scope project", c.Title)
		}
		var paths []string
		for _, name := range c.project {
			name = strings.ReplaceAll(name, "$NAME", project.FileName(r.Server.Name))
			paths = append(paths, filepath.Join(r.Place.Root, filepath.FromSlash(name)))
		}
		return target{present(paths), r.Place.Root}, nil
	}
	if user == nil {
		return target{}, cli.Failf(cli.CodeNotFound, "where %s keeps its file on this system is not known here; "+
			"name the file with --file", c.Title)
	}
	var paths []string
	for _, pattern := range user {
		path, err := r.Place.expand(pattern)
		if err != nil {
			return target{}, err
		}
		paths = append(paths, path)
	}
	return target{path: present(paths)}, nil
}

// present is the first path at which there is something, else the first.
func present(paths []string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

// variable is what a path may begin with in the table of clients.
var variable = lazyregexp.New(`^\$\{(\w+)(?::-([^}]*))?\}`)

// expand replaces what a path of a client's file begins with.
func (p Place) expand(path string) (string, error) {
	if m := variable.FindStringSubmatch(path); m != nil {
		value := p.Env[m[1]]
		if !filepath.IsAbs(value) { // as the XDG specification wants it
			value = m[2]
		}
		if value == "" {
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so that the client's file is not found; "+
				"name it with --file", m[1])
		}
		path = value + path[len(m[0]):]
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		home := "HOME"
		if p.System == "windows" {
			home = "USERPROFILE"
		}
		if !filepath.IsAbs(p.Env[home]) {
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so that the client's file is not found; "+
				"name it with --file", home)
		}
		path = p.Env[home] + rest
	}
	return filepath.FromSlash(path), nil
}

// Reminders are what there is to do until the client sees a change of its file.
func (r Request) Reminders() (list []string) {
	c := r.Client
	project := r.File == "" && (r.Scope == ProjectScope || r.Scope == "" && c.user.on(r.Place.System) == nil)
	if project && c.trust != "" {
		list = append(list, c.trust)
	}
	if c.after != "" {
		list = append(list, fmt.Sprintf("for it to count, %s", c.after))
	}
	return list
}
