package file

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links one path may go through.
const maxLinks = 64

// resolve returns where a path leads: the links of the part that exists are
// followed, what does not exist is taken as it is written. So even a link to
// nowhere is judged by where it points (RES-82, RES-84). Nothing is opened. ok
// is false for too many links.
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
		if err != nil { // no link, or not there, or not to be seen
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
				return target, true // another volume: inside no root of this one
			}
			done, target = root, target[len(volume):]
		}
		rest = strings.TrimPrefix(target, string(filepath.Separator))
	}
	return done, true
}
