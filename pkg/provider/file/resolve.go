package file

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks limits the symbolic links on one path.
const maxLinks = 64

// resolve returns the path with its symbolic links followed. Parts that do not exist stay as
// written, so a dangling link resolves to its target (RES-82, RES-84). resolve opens nothing. ok is
// false for too many links.
func resolve(path string) (resolved string, ok bool) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	done, rest := root, strings.TrimPrefix(path[len(volume):], string(filepath.Separator))
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, string(filepath.Separator))
		switch name {
		case "", ".":
			continue
		case "..": // of a link's target
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		target, err := os.Readlink(next)
		if err != nil { // not a link, missing, or not accessible
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", false
		}
		if rest != "" {
			target += string(filepath.Separator) + rest
		}
		if filepath.IsAbs(target) {
			if filepath.VolumeName(target) != volume {
				return target, true // another volume, so outside all roots
			}
			done, target = root, target[len(volume):]
		}
		rest = strings.TrimPrefix(target, string(filepath.Separator))
	}
	return done, true
}
