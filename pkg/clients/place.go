package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Scope determines whether a client's file belongs to a user or to a project.
type Scope string

// The scopes. "" is the user's scope if the client has one.
const (
	UserScope    Scope = "user"
	ProjectScope Scope = "project"
)

// A Place determines where clients' files are.
type Place struct {
	System string // as in runtime.GOOS
	Env    project.Env
	Root   string // the project whose files belong to the project's scope
}

type target struct {
	path   string
	inside string // links must not lead out of this directory; "": all links are followed
	dry    bool   // no file is written
}

func (r Request) target() (target, error) {
	c := r.Client
	if r.File != "" {
		path, err := filepath.Abs(r.File)
		return target{path: path}, err
	}
	user := c.user.on(r.Place.System)
	if r.isProjects() {
		if c.project == nil {
			return target{}, cli.Failf(cli.CodeNotFound, "%s has no file for a project; leave out --scope project", c.Title)
		}
		var paths []string
		for _, name := range c.project {
			name = strings.ReplaceAll(name, "$NAME", project.FileName(r.Server.Name))
			paths = append(paths, filepath.Join(r.Place.Root, filepath.FromSlash(name)))
		}
		return target{path: present(paths), inside: r.Place.Root}, nil
	}
	if user == nil {
		return target{}, cli.Failf(cli.CodeNotFound, "the path of %s's file on this system is unknown; "+
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

// present returns the first path that exists, or else the first path.
func present(paths []string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

// variable matches a variable at the beginning of a path in the table of clients.
var variable = lazyregexp.New(`^\$\{(\w+)(?::-([^}]*))?\}`)

// expand replaces the variable or ~ at the beginning of a path.
func (p Place) expand(path string) (string, error) {
	if m := variable.FindStringSubmatch(path); m != nil {
		value := p.Env[m[1]]
		if !filepath.IsAbs(value) { // as required by the XDG specification
			value = m[2]
		}
		if value == "" {
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so the client's file cannot be found; "+
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
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so the client's file cannot be found; "+
				"name it with --file", home)
		}
		path = p.Env[home] + rest
	}
	return filepath.FromSlash(path), nil
}

// isProjects reports whether the file is the project's, and not the user's.
func (r Request) isProjects() bool {
	return r.File == "" && (r.Scope == ProjectScope ||
		r.Scope == "" && r.Client.user.on(r.Place.System) == nil && r.Client.project != nil)
}

// Reminders returns the steps of the user before the client uses the changed file.
func (r Request) Reminders() (list []string) {
	c := r.Client
	if r.Remove {
		if c.after != "" {
			list = append(list, fmt.Sprintf("to finish, %s", c.after))
		}
		return list
	}
	if remote := r.Server.Remote; remote != nil && remote.TokenEnv != "" {
		list = append(list, fmt.Sprintf("%s reads the token from the environment variable %s", c.Title, remote.TokenEnv))
		if c.http.reminder != "" {
			list = append(list, c.http.reminder)
		}
	}
	if r.isProjects() {
		if r.Server.Remote == nil {
			list = append(list, "everybody who uses this file needs "+r.Server.program()+" on PATH")
		}
		if c.trust != "" {
			list = append(list, c.trust)
		}
	}
	if c.after != "" {
		list = append(list, fmt.Sprintf("to use it, %s", c.after))
	}
	return list
}
