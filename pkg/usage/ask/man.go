package ask

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/usage"
)

// Bounds on a manual page.
const (
	maxPage  = 4 << 20 // bytes, unpacked
	maxSteps = 3       // ".so" that leads to another page
)

// sections are where programs are described.
var sections = []string{"1", "8", "6", "1p"}

// manDirs are where manual pages are: MANPATH, beside the directories of programs, and the
// usual places.
func manDirs(path, manPath string) (dirs []string) {
	seen := map[string]bool{}
	add := func(dir string) {
		if filepath.IsAbs(dir) && !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range filepath.SplitList(manPath) {
		add(dir)
	}
	for _, dir := range filepath.SplitList(path) {
		add(filepath.Join(dir, "..", "share", "man"))
		add(filepath.Join(dir, "..", "man"))
	}
	add("/usr/local/share/man")
	add("/usr/share/man")
	return dirs
}

// manual reads the manual page of a command line, nil where there is none (WRAP-15).
func (a *Asker) manual(file string, words []string) *usage.Program {
	name := strings.Join(words, "-")
	if strings.ContainsAny(name, "/\\") {
		return nil
	}
	dirs := a.man
	if a.Find(words[0]) != file { // another program has this name on PATH, and the page
		dirs = nil
	}
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		dirs = append([]string{filepath.Join(filepath.Dir(resolved), "..", "share", "man")}, dirs...)
	}
	for _, dir := range dirs {
		for _, section := range sections {
			text, err := page(dir, "man"+section[:1]+"/"+name+"."+section, 0)
			if err == nil {
				return usage.Manual(text, words)
			}
		}
	}
	return nil
}

// page reads a page, packed or not, and follows where it only names another one.
func page(dir, name string, steps int) ([]byte, error) {
	text, err := readPage(filepath.Join(dir, filepath.FromSlash(name)+".gz"), true)
	if errors.Is(err, os.ErrNotExist) {
		text, err = readPage(filepath.Join(dir, filepath.FromSlash(name)), false)
	}
	if err != nil {
		return nil, err
	}
	if other, ok := strings.CutPrefix(strings.TrimSpace(string(text)), ".so "); ok && !strings.Contains(other, "\n") {
		if other = path.Clean("/" + strings.TrimSpace(other)); steps == maxSteps {
			return nil, errors.New("too many references")
		}
		return page(dir, other[1:], steps+1)
	}
	return text, nil
}

// readPage reads a regular file, to which a link may lead: so alternatives are installed.
func readPage(name string, packed bool) ([]byte, error) {
	text, err := project.ReadRegular(name, maxPage)
	if err != nil || !packed {
		return text, err
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxPage))
}
