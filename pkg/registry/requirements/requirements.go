// Package requirements reads server.d/requirements.json: the programs that a project needs (CLI-1109).
package requirements

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
)

// Requirements are the requirements of a project in server.d/requirements.json (CLI-1109).
type Requirements struct {
	MinVersion   string
	Dependencies []Dependency
}

// A Dependency is a program that a project needs. Texts are "" if they are missing.
type Dependency struct {
	Programs    []string // alternatives, by name or absolute path
	MinVersion  string   // of the programs
	Check       string   // a command that prints the version
	InstallHint string   // how to install one of the programs
	Debian      string   // the Debian package with one of them
}

// Names reports whether a program is one of the dependencies, or mcp-bash. r may be nil.
func (r *Requirements) Names(program string) bool {
	if r == nil {
		r = &Requirements{}
	}
	isNamed := func(name string) bool { return path.Base(name) == path.Base(program) }
	return program == "mcp-bash" || slices.ContainsFunc(r.Dependencies, func(d Dependency) bool {
		return slices.ContainsFunc(d.Programs, isNamed)
	})
}

// File is the name of the file in the directory of the server.
const File = "requirements.json"

const maxSize = 1 << 20

// Read reads the requirements of a project. It returns nil if the file does not exist.
func Read(p *project.Project) (*Requirements, error) {
	text, err := p.ReadFile(filepath.Join(p.Server, File), maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) (*Requirements, error) {
	doc, err := item.ParseObject(text)
	if err != nil {
		return nil, err
	}
	r := &Requirements{}
	framework := rawjson.Get(doc, "framework")
	if !rawjson.Absent(framework) && rawjson.KindOf(framework) != rawjson.Object {
		return nil, errors.New("framework must be an object")
	}
	if v := rawjson.Get(framework, "minVersion"); !rawjson.Absent(v) {
		if r.MinVersion, _ = rawjson.Text(v); !IsVersion(r.MinVersion) {
			return nil, errors.New(`framework.minVersion must be a version such as "2.0.0"`)
		}
	}
	list := rawjson.Get(doc, "dependencies")
	if !rawjson.Absent(list) && rawjson.KindOf(list) != rawjson.Array {
		return nil, errors.New("dependencies must be an array")
	}
	i := 0
	for entry := range rawjson.Elements(list) {
		d, err := parseDependency(entry)
		if err != nil {
			return nil, fmt.Errorf("dependencies[%d]%w", i, err)
		}
		r.Dependencies = append(r.Dependencies, d)
		i++
	}
	return r, nil
}

// parseDependency parses one entry. An error continues the name of the entry.
func parseDependency(entry json.RawMessage) (d Dependency, err error) {
	if d.Programs = alternatives(entry); d.Programs == nil {
		return d, errors.New(` must be {"name": PROGRAM} or {"or": [PROGRAM, ...]}`)
	}
	for name, field := range map[string]*string{
		"minVersion": &d.MinVersion, "check": &d.Check, "installHint": &d.InstallHint, "debian": &d.Debian,
	} {
		if v := rawjson.Get(entry, name); !rawjson.Absent(v) {
			if *field, _ = rawjson.Text(v); *field == "" {
				return d, fmt.Errorf(".%s must be a text", name)
			}
		}
	}
	version := versionIn(d.MinVersion)
	if !strings.HasPrefix(strings.TrimPrefix(d.MinVersion, "v"), version) || version == "" && d.MinVersion != "" {
		return d, errors.New(`.minVersion must be a version such as "2.0"`)
	}
	d.MinVersion = version
	return d, nil
}

// alternatives returns the programs of an entry, or nil if it is invalid.
func alternatives(entry json.RawMessage) []string {
	if name := rawjson.TextOf(entry, "name"); name != "" {
		return []string{name}
	}
	names, ok := rawjson.Strings(rawjson.Get(entry, "or"))
	if !ok || len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if name == "" {
			return nil
		}
	}
	return names
}

// IsVersion reports whether a text is a version: one to three numbers, with an optional v (CLI-1112).
func IsVersion(text string) bool {
	v := "v" + strings.TrimPrefix(text, "v")
	return semver.IsValid(v) && semver.Prerelease(v)+semver.Build(v) == ""
}
