// Package roots reads the directories to which a client or the operator limits tools (protocol section 21).
//
// A [Scope] has the roots of one call, and whether the client or the operator named them. They come from the client
// ([FromClient]), from an option or variable ([Explicit], [Listed]), or from the project ([Fallback]). A root that
// does not exist is refused: else a tool could have fewer limits than its user expects.
package roots

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/code"
)

// A Root is a directory to which tools are limited.
type Root struct {
	URI  string // as the client sent it, or file:// and the path
	Name string
	Path string // canonical: absolute, without links, without a final slash
}

// A List is an ordered set of roots. It is immutable.
type List []Root

// A Scope is the roots of a call.
type Scope struct {
	List
	// Given means that the client or the operator named roots. Then an empty list allows no path. Otherwise tools
	// decide themselves.
	Given bool
}

// JSON returns the list for MCP_ROOTS_JSON.
func (l List) JSON() string {
	var b rawjson.Builder
	b.Array()
	for _, r := range l {
		b.Object().Name("uri").String(r.URI).Name("name").String(r.Name).Name("path").String(r.Path).End()
	}
	return string(b.End().Bytes())
}

// Paths returns the paths, separated by line breaks.
func (l List) Paths() string {
	paths := make([]string, len(l))
	for i, r := range l {
		paths[i] = r.Path
	}
	return strings.Join(paths, "\n")
}

// OfPaths returns directories as roots.
func OfPaths(paths []string) List {
	list := make(List, 0, len(paths))
	for _, path := range paths {
		list = append(list, Root{URI: "file://" + path, Path: path})
	}
	return list
}

// Contains reports whether a canonical path is a root or below one.
func (l List) Contains(path string) bool {
	return slices.ContainsFunc(l, func(r Root) bool { return fsys.Within(r.Path, path) })
}

// add appends a root unless the list contains its path.
func (l List) add(r Root) List {
	if slices.ContainsFunc(l, func(have Root) bool { return have.Path == r.Path }) {
		return l
	}
	return append(l, r)
}

// A Refused is a root of the client that cannot be used.
type Refused struct {
	URI string // as the client sent it
	Err error
}

// FromClient parses the result of roots/list. ok is false for an invalid result, which does not change the roots.
// refused are the unusable entries.
func FromClient(result json.RawMessage) (list List, refused []Refused, ok bool) {
	entries := rawjson.Get(result, "roots")
	if rawjson.KindOf(entries) != rawjson.Array {
		return nil, nil, false
	}
	for e := range rawjson.Elements(entries) {
		uri := rawjson.TextOf(e, "uri")
		path, err := fsys.PathOfURI(uri)
		if err == nil {
			path, err = canonical(path)
		}
		if err != nil {
			refused = append(refused, Refused{uri, err})
			continue
		}
		list = list.add(Root{uri, rawjson.TextOf(e, "name"), path})
	}
	return list, refused, true
}

// Logger is the logger of messages about roots.
const Logger = "mcp.roots"

// The sources of roots other than the client.
const (
	Option   = "--roots"
	Variable = "MCPBASH_ROOTS"
	File     = "config/roots.json"
)

// Variables of an installed plugin. pluginVariable is the folder of the plugin, and workspaceVariable the user's
// folder, if the agent replaces the variable in the plugin's entry.
const (
	pluginVariable    = "MCPBASH_PLUGIN_ROOT"
	workspaceVariable = "MCPBASH_WORKSPACE"
)

var (
	errMissing    = errors.New("path does not exist")
	errUnreadable = errors.New("path not readable")
	errLineBreak  = errors.New("path with a line break")
)

// maxRootsFile limits config/roots.json, in bytes.
const maxRootsFile = 1 << 20

// An UnusableError means that a given source of roots cannot be used. The caller must stop, because continuing without
// these roots would allow more than the operator intended.
type UnusableError struct {
	Source string // Option, Variable or File
	Path   string // the unusable root; "": the whole source is unusable
	Err    error
}

func (e *UnusableError) Error() string { return e.Source + ": " + e.Reason() }

// Reason returns the error without its source.
func (e *UnusableError) Reason() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Path
}

func (e *UnusableError) Unwrap() error { return e.Err }

// Remedy returns a hint.
func (e *UnusableError) Remedy() string {
	switch {
	case e.Path == "":
		return "correct " + e.Source + ", or remove it"
	case errors.Is(e.Err, errMissing):
		return "make the directory, or correct " + e.Source
	}
	return "correct " + e.Source
}

// Fallback returns the roots for a client without roots. The first of these exists: MCPBASH_ROOTS, config/roots.json,
// the user's folder for an installed plugin, the project. The error is an [*UnusableError].
func Fallback(p *project.Project) (Scope, error) {
	if v := p.Env[Variable]; v != "" {
		return given(Variable, entries(fsys.SplitNamed(v)), p.Root, p.Env["HOME"])
	}
	switch list, err := readFile(p); {
	case errors.Is(err, fs.ErrNotExist):
		if plugin := p.Env[pluginVariable]; plugin != "" {
			return workspace(p.Env, plugin), nil
		}
		return Scope{List: List{{"file://" + p.Root, "", p.Root}}}, nil
	case err != nil:
		return Scope{}, &UnusableError{Source: File, Err: err}
	default:
		return given(File, list, p.Root, p.Env["HOME"])
	}
}

// workspace returns the folder of a plugin's user, or no folder at all. An agent that names no folder starts servers
// in the plugin's folder, in the home directory or in /. The user has opened none of these.
func workspace(env project.Env, plugin string) Scope {
	s := Scope{Given: true}
	plugin, err := canonical(plugin)
	if err != nil {
		return s
	}
	usable := func(path string) (string, bool) {
		if !filepath.IsAbs(path) { // also a variable that the agent has not replaced
			return "", false
		}
		real, err := canonical(path)
		if err != nil {
			return "", false
		}
		info, err := os.Stat(real)
		return real, err == nil && info.IsDir() && filepath.Dir(real) != real && !fsys.Within(plugin, real)
	}
	path, ok := usable(env[workspaceVariable])
	if !ok {
		here, err := os.Getwd()
		if err != nil {
			return s
		}
		home, _ := canonical(env["HOME"])
		if path, ok = usable(here); !ok || path == home {
			return s
		}
	}
	s.List = List{{"file://" + path, "", path}}
	return s
}

// InProject reports whether the project has a file that names its roots, valid or not.
func InProject(p *project.Project) bool {
	_, err := readFile(p)
	return !errors.Is(err, fs.ErrNotExist)
}

// Explicit returns the roots of run-tool --roots: paths that are separated by commas and relative to dir. The error
// is an [*UnusableError].
func Explicit(value, dir, home string) (Scope, error) {
	paths := strings.Split(value, ",")
	for i := range paths {
		paths[i] = strings.TrimSpace(paths[i])
	}
	return Listed(paths, dir, home)
}

// Listed is [Explicit] for a list of paths.
func Listed(paths []string, dir, home string) (Scope, error) {
	return given(Option, entries(paths), dir, home)
}

type entry struct{ path, name string }

// entries returns the entries for the paths of a list, without empty ones.
func entries(paths []string) (list []entry) {
	for _, path := range paths {
		if path != "" {
			list = append(list, entry{path: path})
		}
	}
	return list
}

// readFile reads config/roots.json. The error is fs.ErrNotExist if the file is missing.
func readFile(p *project.Project) ([]entry, error) {
	text, err := p.ReadSetting(code.RootsFile.In(p), maxRootsFile)
	if err != nil {
		return nil, err
	}
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil, err
	}
	all := rawjson.Get(doc, "roots")
	if rawjson.KindOf(all) != rawjson.Array {
		return nil, errors.New(`expected {"roots":[{"path":"…"}]}`)
	}
	var list []entry
	for e := range rawjson.Elements(all) {
		path := rawjson.TextOf(e, "path")
		if path == "" {
			return nil, fmt.Errorf(`roots[%d] has no "path"`, len(list))
		}
		list = append(list, entry{path, rawjson.TextOf(e, "name")})
	}
	return list, nil
}

// given returns the roots of a source. It returns an error for an empty list or an unusable root. Paths are as in
// [fsys.Named], and relative paths are relative to dir.
func given(source string, list []entry, dir, home string) (Scope, error) {
	s := Scope{Given: true}
	for _, e := range list {
		path, err := fsys.Named(e.path, home)
		if err != nil {
			return Scope{}, &UnusableError{Source: source, Err: err}
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		real, err := canonical(path)
		if err != nil {
			return Scope{}, &UnusableError{source, path, err}
		}
		s.List = s.List.add(Root{"file://" + real, e.name, real})
	}
	if len(s.List) == 0 {
		return Scope{}, &UnusableError{Source: source, Err: errors.New("names no directory")}
	}
	return s, nil
}

// canonical resolves links and checks that the path exists and is readable.
func canonical(path string) (string, error) {
	c, err := filepath.EvalSymlinks(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return "", errUnreadable
		}
		return "", errMissing
	}
	if c, err = filepath.Abs(c); err != nil {
		return "", errMissing
	}
	switch {
	case strings.ContainsRune(c, '\n'): // scripts get a path on each line
		return "", errLineBreak
	case !readable(c):
		return "", errUnreadable
	}
	return c, nil
}
