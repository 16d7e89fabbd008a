package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
)

// CheckOwn reports whether nobody but us and root can change what is at a path, info being what [os.Lstat] says of it:
// it is no link, belongs to us or root, and others cannot write to it. What was left by a run that was
// killed, and what lies where others can put files, is believed, or removed, only after it passed. The
// directories above are not judged. The error is an [*InsecureError].
func CheckOwn(path string, info fs.FileInfo) error {
	if isLink(info) {
		return &InsecureError{path, "symlink", flawLink}
	}
	if reason, flaw := distrust(path, info, false); reason != "" {
		return &InsecureError{path, reason, flaw}
	}
	return nil
}

// An InsecureError says why a file is neither run nor believed: because of it
// or of a directory that leads to it (R-144, T-31, T-41).
type InsecureError struct {
	Path   string // the file, or one of the directories
	Reason string // with the remedy
	flaw   flaw
}

// A flaw is a kind of [InsecureError].
type flaw int

// The flaws that have a remedy of one line. flawOther is any other one.
const (
	flawOther flaw = iota
	flawWritable
	flawLink
	flawNotRegular
)

func (e *InsecureError) Error() string { return script.Quote(e.Path) + " (" + e.Reason + ")" }

// Brief returns why a file of the project is refused. Path and remedy are relative to
// the project, since clients see them (R-144a).
func (p *Project) Brief(e *InsecureError) string {
	shown, label := p.briefPath(e.Path)
	switch e.flaw {
	case flawWritable:
		return shown + " is group- or world-writable (fix: chmod g-w,o-w " + label + ")"
	case flawLink:
		kind := "regular file"
		if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
			kind = "directory"
		}
		return shown + " is a symlink (replace it with a " + kind + ")"
	case flawNotRegular:
		return shown + " is not a regular file"
	}
	return shown + " (" + e.Reason + ")"
}

// briefPath returns a path for people, and as a shell takes it, relative to the
// project or to a server directory elsewhere.
func (p *Project) briefPath(path string) (shown, word string) {
	below := func(dir string) string {
		rel, _ := filepath.Rel(dir, path)
		return filepath.ToSlash(rel)
	}
	const server = "$MCPBASH_SERVER_DIR"
	switch {
	case path == p.Root:
		return "the project root", "."
	case Within(p.Root, path):
		return below(p.Root), script.Quote(below(p.Root))
	case path == p.Server:
		return server, `"` + server + `"`
	case Within(p.Server, path):
		return server + "/" + below(p.Server), `"` + server + `"/` + script.Quote(below(p.Server))
	}
	return filepath.Base(path), script.Quote(filepath.Base(path))
}

// CheckPath reports whether nobody but us and root can change what a path of the
// project leads to: the file and every directory on the way to it, from the
// project root down, or from the directory of [Dirs] that lies elsewhere, must
// belong to us or root and not be writable by others (T-41). The error is
// an [*InsecureError], or that of a file that is not there, in a place that can
// be trusted.
func (p *Project) CheckPath(path string) error {
	w := begin(p.Root, p.home(path), path)
	_, _, err := w.follow(w.path)
	return err
}

// CheckTrusted is [Project.CheckPath] for a file of the server directory that
// decides what runs. It must be a regular file, and neither it nor its directory
// may be a link (R-144, T-31).
func (p *Project) CheckTrusted(trusted code.File) error {
	file := trusted.Path()
	for _, path := range []string{filepath.Dir(file), file} {
		if info, err := os.Lstat(path); err == nil && isLink(info) {
			return &InsecureError{path, "symlink", flawLink}
		}
	}
	w := begin(p.Root, p.home(file), file)
	_, info, err := w.follow(w.path)
	if err == nil && !info.Mode().IsRegular() {
		return &InsecureError{file, "not a regular file", flawNotRegular}
	}
	return err
}

// home returns the directory whose content a path is: the project root, or one
// that the operator put elsewhere.
func (p *Project) home(path string) string {
	for _, dir := range p.Dirs.all() {
		if !Within(p.Root, dir) && Within(dir, path) {
			return dir
		}
	}
	return p.Root
}

// CheckScript applies the path rules of T-41: the script, links resolved,
// lies in dir, a directory of the project at root or one elsewhere, and nobody
// else can change it or what leads to it. The paths are absolute. The error is
// [errScriptMissing] or an [*InsecureError].
func CheckScript(root, dir, file string) error {
	w := begin(root, dir, file)
	physical, info, err := w.follow(w.path)
	var insecure *InsecureError
	switch {
	case errors.As(err, &insecure):
		return insecure
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return &InsecureError{file, PlainError(err).Error(), flawOther}
	}
	if physical != w.path || !inside(w.dir, physical) { // over a link, or out
		if physicalDir, _, err := w.follow(w.dir); err != nil || !inside(physicalDir, physical) {
			return &InsecureError{file, "leads out of " + dir, flawOther}
		}
	}
	if err != nil || !info.Mode().IsRegular() {
		return errScriptMissing
	}
	return nil
}

// errScriptMissing is the error for a script that is not there (T-9).
var errScriptMissing = errors.New("tool executable missing")

func inside(dir, path string) bool { return path != dir && Within(dir, path) }

// A way leads to a path of a directory of a project.
//
// It is followed downwards, one name at a time, and each directory is judged
// before a name is looked up in it. Since nobody else can change what lies in a
// directory that passed, what was judged is what is opened or started by that
// path later on.
//
// Judging begins at top: what is above is not in question. Where a path or a link
// leads elsewhere, it begins at the root directory of the system; there a sticky
// directory may be writable by others, who can put nothing in the place of what
// is ours.
type pathWalk struct {
	top  string // physical
	dir  string // the directory
	path string

	at   string // how far it was followed: no link leads here
	info fs.FileInfo
	rest string // what is to follow
}

// begin returns the way to a path from the project root, or from the directory
// it belongs to where that lies elsewhere.
func begin(root, dir, path string) *pathWalk {
	if Within(root, dir) {
		return &pathWalk{top: root, dir: dir, path: path}
	}
	if physical, err := filepath.EvalSymlinks(dir); err == nil {
		if Within(dir, path) {
			path = physical + path[len(dir):]
		}
		dir = physical
	}
	return &pathWalk{top: dir, dir: dir, path: path}
}

// maxLinks is how many symbolic links a path may lead over.
const maxLinks = 40

const separator = string(filepath.Separator)

// follow goes to the end of a path, and returns where and what that is. Where
// there is nothing, it returns where that would be.
func (w *pathWalk) follow(path string) (physical string, info fs.FileInfo, err error) {
	w.rest = ""
	err = w.turn(path)
	for links := 0; err == nil && w.rest != ""; {
		var name, link string
		name, w.rest, _ = strings.Cut(w.rest, separator)
		switch name {
		case "", ".":
		case "..":
			err = w.enter(filepath.Dir(w.at), w.rest)
		default:
			if link, err = w.step(name); link == "" {
				break
			}
			if links++; links > maxLinks {
				err = &InsecureError{path, "too many symbolic links", flawOther}
			} else {
				err = w.turn(link)
			}
		}
	}
	if err != nil {
		return filepath.Join(w.at, w.rest), nil, err
	}
	return w.at, w.info, nil
}

// turn goes on with another path, before what is to follow.
func (w *pathWalk) turn(path string) error {
	rest := separator + w.rest
	switch {
	case !filepath.IsAbs(path):
		w.rest = path + rest
		return nil
	case Within(w.top, path):
		return w.enter(w.top, path[len(w.top):]+rest)
	}
	volume := filepath.VolumeName(path)
	return w.enter(volume+separator, path[len(volume):]+rest)
}

// enter goes to a directory whose name is known.
func (w *pathWalk) enter(dir, rest string) (err error) {
	w.at, w.rest = dir, rest
	if w.info, err = w.look(dir); err == nil && isLink(w.info) {
		err = &InsecureError{dir, "symlink", flawLink}
	}
	return err
}

// step goes to a name in the directory where we are, unless it is a link, which
// is returned.
func (w *pathWalk) step(name string) (link string, err error) {
	next := strings.TrimSuffix(w.at, separator) + separator + name
	info, err := w.look(next)
	if err == nil && isLink(info) {
		link, err = os.Readlink(next)
		return filepath.FromSlash(link), err
	}
	w.at, w.info = next, info
	return "", err
}

// look judges what is there.
func (w *pathWalk) look(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	shared := info.IsDir() && info.Mode()&fs.ModeSticky != 0 && !Within(w.top, path)
	if reason, flaw := distrust(path, info, shared); reason != "" {
		return nil, &InsecureError{path, reason, flaw}
	}
	return info, nil
}

func isLink(info fs.FileInfo) bool { return info.Mode()&fs.ModeSymlink != 0 }
