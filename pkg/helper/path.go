package helper

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the maximum number of links on a path, as on Linux.
const maxLinks = 40

// physicalPath resolves a path. If there are roots, it also checks that one of them contains the
// path (SDK-131, SDK-132).
func physicalPath(args []string, _ []byte) ([]byte, int) {
	path := physical(args[0])
	roots := args[1:]
	for _, root := range roots {
		if contains(physical(root), path) {
			return []byte(path), exitOK
		}
	}
	if len(roots) > 0 {
		return []byte(path), exitNo
	}
	return []byte(path), exitOK
}

func contains(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// physical returns an absolute path without links, dots and redundant slashes. Parts that do not
// exist stay as they are. So does a path in a ring of links.
func physical(path string) string {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			here = "/"
		}
		path = here + "/" + path
	}
	written := filepath.ToSlash(filepath.Clean(path))
	volume := filepath.VolumeName(path)
	done := ""
	rest := filepath.ToSlash(path[len(volume):])
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			done = done[:max(0, strings.LastIndexByte(done, '/'))]
			continue
		}
		next := done + "/" + name
		target, err := os.Readlink(volume + next)
		if err != nil {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return written
		}
		if filepath.IsAbs(target) {
			volume, done = filepath.VolumeName(target), ""
			target = target[len(volume):]
		}
		rest = filepath.ToSlash(target) + "/" + rest
	}
	done = cmp.Or(done, "/")
	return filepath.ToSlash(volume) + done
}
