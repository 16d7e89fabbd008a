package bundle

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
)

// An inclusion is a file or a directory that MCPB_INCLUDE names, by its path in the
// project.
type inclusion struct {
	name  string
	isDir bool
}

const cacheDir = ".registry"

// readInclude reads MCPB_INCLUDE, whose words are literal, and prepares the selection for
// what it names. defaults are included anyway (CLI-1416).
func (b *builder) readInclude(root *source, defaults []string) (list []inclusion) {
	b.content.selection.named = map[string]bool{}
	for _, word := range strings.Fields(b.config.conf["MCPB_INCLUDE"]) {
		name := strings.TrimRight(word, "/")
		parts := strings.Split(name, "/")
		switch {
		case name == "" || strings.HasPrefix(name, "/") || name == "." || strings.HasPrefix(name, "./") ||
			filepath.IsAbs(name):
			b.say.warn("MCPB_INCLUDE rejects absolute/relative path: %s", word)
			continue
		case slices.Contains(parts, "..") || slices.Contains(parts, "."):
			b.say.warn("MCPB_INCLUDE rejects path traversal: %s", word)
			continue
		case parts[0] == runtimes.Dir || name == "run-server.sh":
			b.say.warn("MCPB_INCLUDE rejects the runtime's own place: %s", word)
			continue
		}
		info, err := os.Stat(filepath.Join(root.dir, filepath.FromSlash(name)))
		if err != nil {
			b.say.warn("MCPB_INCLUDE directory not found: %s", word)
			continue
		}
		i := inclusion{name, info.IsDir()}
		if b.rejects(root, i) || i.isDir && !b.isNew(i, defaults, list) {
			continue
		}
		switch {
		case name == cacheDir && i.isDir:
			b.content.selection.cache = true
		case !i.isDir:
			b.content.selection.named[name] = true
		}
		list = append(list, i)
	}
	return list
}

// rejects reports whether an inclusion is never made, and why. A file is included by its
// name even where the lists leave it out; a directory is not.
func (b *builder) rejects(root *source, i inclusion) bool {
	names := []string{i.name}
	if target, _, err := root.follow(i.name); err == nil && target != i.name {
		names = append(names, target)
	}
	for _, name := range names {
		switch {
		case b.content.selection.isIgnored(name, i.isDir):
			b.say.warn("MCPB_INCLUDE names what %s leaves out: %s", ignoreName, i.name)
			return true
		case isVersionControl(name, i.isDir), i.isDir && name != cacheDir && !b.content.selection.takes(name, true):
			b.say.warn("MCPB_INCLUDE rejects what is never shipped: %s", i.name)
			return true
		}
	}
	return false
}

// isNew reports whether a directory is not included yet.
func (b *builder) isNew(i inclusion, defaults []string, list []inclusion) bool {
	if slices.Contains(defaults, strings.Split(i.name, "/")[0]) {
		b.say.verbose("Skipped %s/ (overlaps with default %s/)", i.name, strings.Split(i.name, "/")[0])
		return false
	}
	for _, other := range list {
		switch {
		case i.name == other.name || strings.HasPrefix(i.name, other.name+"/"):
			return false
		case other.isDir && strings.HasPrefix(other.name, i.name+"/"):
			b.say.warn("MCPB_INCLUDE names %s, which is part of %s, before it; name the latter only", other.name, i.name)
			return false
		}
	}
	return true
}

// collectIncluded adds the files and directories of MCPB_INCLUDE. Directories come first, so their
// files are not added again.
func (b *builder) collectIncluded(root *source, included []inclusion) error {
	dirs := 0
	for _, i := range included {
		if !i.isDir || i.name == cacheDir {
			continue
		}
		dirs++
		b.say.verbose("Copied %s/ (custom)", i.name)
		if err := b.content.tree(root, i.name, path.Join(serverDir, i.name)); err != nil {
			return err
		}
	}
	for _, i := range included {
		to := path.Join(serverDir, i.name)
		if ok, _ := b.content.names.Has(to); ok || i.isDir {
			continue
		}
		b.say.verbose("Copied %s (custom)", i.name)
		if err := b.content.tree(root, i.name, to); err != nil {
			return err
		}
	}
	if dirs > 0 && b.say.loud {
		b.say.done("Included %d custom directories", dirs)
	}
	return nil
}

// collectCache adds the registry of the project, where MCPB_INCLUDE names it. Files that
// the bundle has already are those that were made for it. It comes last, as a server that
// was started in the staged tree has written there.
func (b *builder) collectCache() error {
	if !b.content.selection.cache {
		return nil
	}
	if err := os.RemoveAll(b.staged.Dirs.Registry); err != nil {
		return err
	}
	root, err := openSource(b.p.Root, "")
	if err != nil {
		return err
	}
	defer root.root.Close()
	b.say.verbose("Copied %s/ (custom)", cacheDir)
	if err := b.content.tree(root, cacheDir, path.Join(serverDir, cacheDir)); err != nil {
		return err
	}
	if b.report(); len(b.say.faults) > 0 {
		return errValidation
	}
	return nil
}

// notIncluded lists top-level files of the project that the bundle does not contain although no
// rule excludes them.
func (b *builder) notIncluded(root *source, places []string) (list []string) {
	entries, err := fs.ReadDir(root.root.FS(), ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		isPlace := func(place string) bool { return place == name || strings.HasPrefix(place, name+"/") }
		if strings.HasPrefix(name, ".") || isAboutProject(name) || slices.ContainsFunc(places, isPlace) ||
			!b.content.selection.takes(name, e.IsDir()) {
			continue
		}
		if ok, _ := b.content.names.Has(name); ok {
			continue // a picture
		}
		if e.IsDir() {
			if inside, err := fs.ReadDir(root.root.FS(), name); err == nil && len(inside) == 0 {
				continue
			}
			name += "/"
		}
		list = append(list, name)
	}
	return list
}

// isAboutProject reports whether a file at the top of a project is for its developers, or
// has its own place in a bundle.
func isAboutProject(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "readme", "license", "licence", "copying", "notice", "authors", "changelog", "changes", "contributing",
		"security", "makefile", "justfile", "dockerfile", "icon":
		return true
	}
	return name == confFile || name == "run-server.sh"
}
