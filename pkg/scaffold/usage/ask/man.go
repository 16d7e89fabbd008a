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

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/scaffold/usage"
)

// Limits on a manual page.
const (
	maxPage  = 4 << 20 // uncompressed bytes
	maxSteps = 3       // references to another page with ".so"
)

// sections are the sections of the manual that describe programs.
var sections = []string{"1", "8", "6", "1p"}

// manual parses the manual page of a command line. It returns nil if there is no page. The page
// must be installed with the program: below the directory that contains the program's directory.
// Elsewhere, it can describe another program of the same name (WRAP-15).
func (a *Asker) manual(file string, words []string) *usage.Program {
	name := strings.Join(words, "-")
	if strings.ContainsAny(name, "/\\") {
		return nil
	}
	dirs := []string{filepath.Dir(file)}
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		dirs = append(dirs, filepath.Dir(resolved))
	}
	for _, bin := range dirs {
		for _, dir := range []string{"share/man", "man", "usr/share/man"} {
			for _, section := range sections {
				for _, folder := range []string{"man" + section[:1] + "/", ""} { // packages of npm have no such folder
					text, err := page(filepath.Join(bin, "..", dir), folder+name+"."+section, 0)
					if err == nil {
						return usage.Manual(text, words)
					}
				}
			}
		}
	}
	return nil
}

// page reads a page, compressed or not, and follows references to other pages.
func page(dir, name string, steps int) ([]byte, error) {
	file := filepath.Join(dir, filepath.FromSlash(name))
	text, err := boundedfile.Read(file+".gz", maxPage)
	if err == nil {
		r, failed := gzip.NewReader(bytes.NewReader(text))
		if failed != nil {
			return nil, failed
		}
		text, err = io.ReadAll(io.LimitReader(r, maxPage))
	} else if errors.Is(err, os.ErrNotExist) {
		text, err = boundedfile.Read(file, maxPage)
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
