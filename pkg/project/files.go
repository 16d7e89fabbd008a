package project

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/text/shell"
)

// maxMetaFile limits files with metadata, in bytes.
const maxMetaFile = 1 << 20

const separator = string(filepath.Separator)

// ReadFile reads a regular file of at most max bytes. After resolving symbolic links, the file must be in the
// project, or in the project's directory outside of the root that contains the path. ReadFile never blocks. The error
// is [fs.ErrNotExist], or the reason why the file is not read.
func (p *Project) ReadFile(path string, max int) ([]byte, error) {
	return readInside([]string{p.Root, p.dirOf(path)}, path, max)
}

// ReadSetting is [Project.ReadFile] for a file that decides which code runs, or what the code can access. Other users
// must not be able to write it. The error may be a [*trust.InsecureError].
func (p *Project) ReadSetting(file code.File, max int) ([]byte, error) {
	text, err := p.ReadFile(file.Path(), max)
	if err == nil {
		err = p.CheckPath(file.Path())
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// CheckPath is [trust.CheckPath] for a path of the project.
func (p *Project) CheckPath(path string) error { return trust.CheckPath(p.Root, p.dirOf(path), path) }

// CheckTrusted checks a file of the server directory that decides which code runs. The error may be a
// [*trust.InsecureError].
func (p *Project) CheckTrusted(file code.File) error {
	return trust.CheckFile(p.Root, p.dirOf(file.Path()), file.Path())
}

// Brief returns the reason why a file of the project is insecure. Clients see it, so its paths are relative to the
// project (R-144a).
func (p *Project) Brief(e *trust.InsecureError) string { return e.Brief(p.briefPath(e.Path)) }

// Shown returns an error for clients. If it is about an insecure file, its paths are relative to the project (T-41a).
func (p *Project) Shown(err error) error {
	insecure, ok := errors.AsType[*trust.InsecureError](err)
	if !ok {
		return err
	}
	return errors.New(insecure.Text(func(path string) string { _, word := p.briefPath(path); return word }))
}

// briefPath returns a path for people, and as a word of a shell command. It is relative to the project, or to a
// server directory elsewhere.
func (p *Project) briefPath(path string) (shown, word string) {
	below := func(dir string) string {
		rel, _ := filepath.Rel(dir, path)
		return filepath.ToSlash(rel)
	}
	const server = "$MCPBASH_SERVER_DIR"
	switch {
	case path == p.Root:
		return "the project root", "."
	case fsys.Within(p.Root, path):
		return below(p.Root), shell.Quote(below(p.Root))
	case path == p.Server:
		return server, `"` + server + `"`
	case fsys.Within(p.Server, path):
		return server + "/" + below(p.Server), `"` + server + `"/` + shell.Quote(below(p.Server))
	}
	return filepath.Base(path), shell.Quote(filepath.Base(path))
}

// dirOf returns the directory outside of the project root that contains a path, or the root.
func (p *Project) dirOf(path string) string {
	for _, dir := range p.Dirs.all() {
		if !fsys.Within(p.Root, dir) && fsys.Within(dir, path) {
			return dir
		}
	}
	return p.Root
}

// readInside is [Project.ReadFile] for a file in one of several directories.
func readInside(dirs []string, path string, max int) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	f, err := openInside(dirs, path)
	if err == errOutside { // an absolute link may still lead inside
		f, err = openResolved(dirs, path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("a link that leads nowhere")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	return boundedfile.ReadAll(f, max)
}

var errOutside = errors.New("outside the project")

// openInside opens a file through its directory, so that no link leads out, even one that changes meanwhile.
func openInside(dirs []string, path string) (*os.File, error) {
	for _, dir := range dirs {
		if path == dir || !fsys.Within(dir, path) {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, boundedfile.Unreadable(err)
		}
		defer root.Close()
		f, err := boundedfile.OpenIn(root, strings.TrimPrefix(path[len(dir):], separator))
		if fsys.Escapes(err) {
			return nil, errOutside
		}
		return f, err
	}
	return nil, errOutside
}

// openResolved is [openInside] for a path whose links are resolved first.
func openResolved(dirs []string, path string) (*os.File, error) {
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, boundedfile.Unreadable(err)
	}
	var resolved []string
	for _, dir := range dirs {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			resolved = append(resolved, dir)
		}
	}
	f, err := openInside(resolved, physical)
	if err == errOutside {
		err = fmt.Errorf("%w: %s", errOutside, physical)
	}
	return f, err
}

// FileURI returns the file: URI of a path. Everything but letters, digits and "/:.~_-" is escaped.
func FileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/dir
		path = "/" + path
	}
	return "file://" + strings.NewReplacer("+", "%20", "%2F", "/", "%3A", ":").Replace(url.QueryEscape(path))
}

// ResourceRoots returns the absolute paths that the file provider may read: the directories and files of
// MCP_RESOURCES_ROOTS, or the resources directory. set reports whether the variable is set. The paths need not exist. A
// text that names no path is left out.
func (e Env) ResourceRoots(root, resources string) (list []string, set bool) {
	value := e["MCP_RESOURCES_ROOTS"]
	if value == "" {
		return []string{resources}, false
	}
	for _, item := range fsys.SplitNamed(value) {
		item, err := fsys.Named(item, e["HOME"])
		if err != nil || item == "" {
			continue
		}
		if !filepath.IsAbs(item) {
			item = filepath.Join(root, item)
		}
		list = append(list, filepath.Clean(item))
	}
	return list, true
}

// maxIcon limits icon files, in bytes.
const maxIcon = 1 << 20

// iconType returns the MIME type of an icon file by its name.
func iconType(name string) string {
	if of := media.ByName(name); strings.HasPrefix(of, "image/") {
		return of
	}
	return media.Binary
}

// InlineIcons returns an icons array whose files are replaced by data URIs, so that a client can show them. Relative
// paths are relative to one of dirs. The files must be in the project. InlineIcons reports unusable icons to warn, and
// omits them. If no icon is left, the result is nil. If observe is not nil, it gets every path that was tried.
func (p *Project) InlineIcons(icons json.RawMessage, dirs []string, observe func(path string),
	warn func(string)) json.RawMessage {
	var b rawjson.Builder
	b.Array()
	n := 0
	for icon := range rawjson.Elements(icons) {
		src, ok := rawjson.Text(rawjson.Get(icon, "src"))
		if !ok || src == "" {
			continue
		}
		if fsys.HasScheme(src) {
			b.Raw(rawjson.Normal(icon))
			n++
			continue
		}
		inlined, err := p.inlineIcon(icon, src, dirs, observe)
		if err != nil {
			warn(fmt.Sprintf("icon %s: %s", p.iconLabel(src), err))
			continue
		}
		b.Raw(inlined)
		n++
	}
	if n == 0 {
		return nil
	}
	return b.End().Bytes()
}

// iconLabel returns an absolute path in the project relative to it. Any other path is as the metadata has it.
func (p *Project) iconLabel(src string) string {
	path := filepath.FromSlash(src)
	if rel, err := filepath.Rel(p.Root, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return src
}

func (p *Project) inlineIcon(icon json.RawMessage, src string, dirs []string,
	observe func(string)) (json.RawMessage, error) {
	candidates := []string{src}
	if !filepath.IsAbs(src) {
		candidates = candidates[:0]
		for _, dir := range dirs {
			candidates = append(candidates, filepath.Join(dir, filepath.FromSlash(src)))
		}
	}
	var data []byte
	err := errors.New("no such file")
	for _, path := range candidates {
		if observe != nil {
			observe(path)
		}
		text, errRead := p.ReadFile(path, maxIcon)
		if errors.Is(errRead, fs.ErrNotExist) {
			continue
		}
		data, err = text, errRead
		break
	}
	if err != nil {
		return nil, err
	}
	mime := rawjson.TextOf(icon, "mimeType")
	given := mime != ""
	if !given {
		mime = iconType(src)
	}
	uri := "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	icon = rawjson.With(rawjson.Normal(icon), "src", rawjson.Quote(uri))
	if !given {
		icon = rawjson.With(icon, "mimeType", rawjson.Quote(mime))
	}
	return icon, nil
}
