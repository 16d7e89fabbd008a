package roots

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// Logger is the name these messages go by.
const Logger = "mcp.roots"

var (
	errMissing    = errors.New("path does not exist")
	errUnreadable = errors.New("path not readable")
)

// maxRootsFile bounds config/roots.json, in bytes.
const maxRootsFile = 1 << 20

// Fallback returns the roots for a client that names none: those of
// MCPBASH_ROOTS, else of config/roots.json, else the project (P-2100, P-2101).
func Fallback(p *project.Project, log mcp.LogFunc) List {
	f := finder{p, log}
	if v := p.Env["MCPBASH_ROOTS"]; v != "" {
		return f.fromVariable(v)
	}
	if list, ok := f.fromFile(filepath.Join(p.Root, "config", "roots.json")); ok {
		return list
	}
	return List{{"file://" + p.Root, "", p.Root}}
}

// Explicit returns the roots of run-tool --roots: all of them must exist.
func Explicit(paths []string, dir string) (List, error) {
	var list List
	for _, path := range paths {
		if path = strings.TrimSpace(path); path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		c, err := canonical(path)
		if err != nil {
			return nil, err
		}
		list = list.add(Root{"file://" + c, "", c})
	}
	return list, nil
}

type finder struct {
	p   *project.Project
	log mcp.LogFunc
}

// fromVariable: a set but useless MCPBASH_ROOTS means no roots, never more
// than was asked for.
func (f finder) fromVariable(value string) List {
	list := List{}
	for _, item := range filepath.SplitList(value) {
		if item != "" {
			list = f.take(list, item, "", "MCPBASH_ROOTS", mcp.Err)
		}
	}
	return list
}

func (f finder) fromFile(file string) (List, bool) {
	const source = "config/roots.json"
	text, err := f.p.ReadSetting(file, maxRootsFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.log(mcp.Warning, Logger, source+" is ignored: "+err.Error())
		}
		return nil, false
	}
	doc, err := rawjson.Check(text)
	entries := rawjson.Get(doc, "roots")
	if err != nil || rawjson.KindOf(entries) != rawjson.Array {
		f.log(mcp.Warning, Logger, source+`: expected {"roots":[{"path":"…"}]}`)
		return nil, false
	}
	list := List{}
	for e := range rawjson.Elements(entries) {
		if path := rawjson.TextOf(e, "path"); path != "" {
			list = f.take(list, path, rawjson.TextOf(e, "name"), source, mcp.Warning)
		}
	}
	return list, true
}

func (f finder) take(list List, path, name, source string, level mcp.Level) List {
	c, err := canonical(f.expand(path))
	if err != nil {
		text := source + ": " + err.Error()
		if f.p.Logging.Verbose {
			text += ": " + path
		}
		f.log(level, Logger, text)
		return list
	}
	return list.add(Root{"file://" + c, name, c})
}

// expand makes a path of the operator absolute: "~" is HOME, and what is
// relative is relative to the project.
func (f finder) expand(path string) string {
	if home := f.p.Env["HOME"]; home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		path = home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.p.Root, path)
	}
	return path
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
	if !readable(c) {
		return "", errUnreadable
	}
	return c, nil
}
