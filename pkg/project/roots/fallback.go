package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/code"
)

// Logger is the name these messages go by.
const Logger = "mcp.roots"

// The sources of roots besides the client.
const (
	Option   = "--roots"
	Variable = "MCPBASH_ROOTS"
	File     = "config/roots.json"
)

var (
	errMissing    = errors.New("path does not exist")
	errUnreadable = errors.New("path not readable")
	errLineBreak  = errors.New("path with a line break")
)

// maxRootsFile bounds config/roots.json, in bytes.
const maxRootsFile = 1 << 20

// An UnusableError says why a source of roots that is given cannot be used. Whoever gets one must
// stop: to go on without these roots would allow more than was asked for (P-2101).
type UnusableError struct {
	Source string // Option, Variable or File
	Path   string // the root that cannot be used; "" where the source as a whole cannot
	Err    error
}

func (e *UnusableError) Error() string { return e.Source + ": " + e.Reason() }

// Reason is the error without its source.
func (e *UnusableError) Reason() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Path
}

func (e *UnusableError) Unwrap() error { return e.Err }

// Remedy says what to do about it.
func (e *UnusableError) Remedy() string {
	switch {
	case e.Path == "":
		return "correct " + e.Source + ", or remove it"
	case errors.Is(e.Err, errMissing):
		return "make the directory, or correct " + e.Source
	}
	return "correct " + e.Source
}

// Fallback returns the roots for a client that names none: those of MCPBASH_ROOTS, else of
// config/roots.json, else the project (P-2100). The error is an [*UnusableError].
func Fallback(p *project.Project) (Scope, error) {
	if v := p.Env[Variable]; v != "" {
		return given(Variable, entries(filepath.SplitList(v)), p.Root, p.Env["HOME"])
	}
	switch list, err := readFile(p); {
	case errors.Is(err, fs.ErrNotExist):
		return Scope{List: List{{"file://" + p.Root, "", p.Root}}}, nil
	case err != nil:
		return Scope{}, &UnusableError{Source: File, Err: err}
	default:
		return given(File, list, p.Root, p.Env["HOME"])
	}
}

// Explicit returns the roots of run-tool --roots, separated by commas and relative to dir. The
// error is an [*UnusableError].
func Explicit(value, dir string) (Scope, error) {
	paths := strings.Split(value, ",")
	for i := range paths {
		paths[i] = strings.TrimSpace(paths[i])
	}
	return given(Option, entries(paths), dir, "")
}

// An entry is a root as a source names it.
type entry struct{ path, name string }

// entries are the paths of a list, of which empty ones do not count.
func entries(paths []string) (list []entry) {
	for _, path := range paths {
		if path != "" {
			list = append(list, entry{path: path})
		}
	}
	return list
}

// readFile reads config/roots.json. The error is fs.ErrNotExist where there is none.
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

// given returns the roots that a source names: at least one, and none that cannot be used. "~" is
// home, and what is relative is relative to dir.
func given(source string, list []entry, dir, home string) (Scope, error) {
	s := Scope{Given: true}
	for _, e := range list {
		path := e.path
		if home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
			path = home + path[1:]
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

// canonical resolves links and sees whether the path is there and readable.
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
	case strings.ContainsRune(c, '\n'): // scripts are given a path on each line (P-2107)
		return "", errLineBreak
	case !readable(c):
		return "", errUnreadable
	}
	return c, nil
}
