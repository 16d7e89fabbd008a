package stage

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
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
func (s *Stage) readInclude(defaults []string) (list []inclusion) {
	s.Content.selection.named = map[string]bool{}
	for _, word := range strings.Fields(s.Config.conf["MCPB_INCLUDE"]) {
		name := strings.TrimRight(word, "/")
		parts := strings.Split(name, "/")
		switch {
		case name == "" || strings.HasPrefix(name, "/") || name == "." || strings.HasPrefix(name, "./") ||
			filepath.IsAbs(name):
			s.Warn("MCPB_INCLUDE rejects absolute/relative path: %s", word)
			continue
		case slices.Contains(parts, "..") || slices.Contains(parts, "."):
			s.Warn("MCPB_INCLUDE rejects path traversal: %s", word)
			continue
		case parts[0] == runtimes.Dir || name == "run-server.sh":
			s.Warn("MCPB_INCLUDE rejects the runtime's own place: %s", word)
			continue
		}
		info, err := os.Stat(filepath.Join(s.root.dir, filepath.FromSlash(name)))
		if err != nil {
			s.Warn("MCPB_INCLUDE directory not found: %s", word)
			continue
		}
		i := inclusion{name, info.IsDir()}
		if s.rejects(i) || i.isDir && !s.isNew(i, defaults, list) {
			continue
		}
		switch {
		case name == cacheDir && i.isDir:
			s.Content.selection.cache = true
		case !i.isDir:
			s.Content.selection.named[name] = true
		}
		list = append(list, i)
	}
	return list
}

// rejects reports whether an inclusion is never made, and why. A file is included by its
// name even where the lists leave it out; a directory is not.
func (s *Stage) rejects(i inclusion) bool {
	names := []string{i.name}
	if target, _, err := s.root.follow(i.name); err == nil && target != i.name {
		names = append(names, target)
	}
	for _, name := range names {
		switch {
		case s.Content.selection.isIgnored(name, i.isDir):
			s.Warn("MCPB_INCLUDE names what %s leaves out: %s", ignoreName, i.name)
			return true
		case isVersionControl(name, i.isDir), i.isDir && name != cacheDir && !s.Content.selection.takes(name, true):
			s.Warn("MCPB_INCLUDE rejects what is never shipped: %s", i.name)
			return true
		}
	}
	return false
}

// isNew reports whether a directory is not included yet.
func (s *Stage) isNew(i inclusion, defaults []string, list []inclusion) bool {
	if slices.Contains(defaults, strings.Split(i.name, "/")[0]) {
		s.Detail("Skipped %s/ (overlaps with default %s/)", i.name, strings.Split(i.name, "/")[0])
		return false
	}
	for _, other := range list {
		switch {
		case i.name == other.name || strings.HasPrefix(i.name, other.name+"/"):
			return false
		case other.isDir && strings.HasPrefix(other.name, i.name+"/"):
			s.Warn("MCPB_INCLUDE names %s, which is part of %s, before it; name the latter only", other.name, i.name)
			return false
		}
	}
	return true
}

// collectIncluded adds the files and directories of MCPB_INCLUDE. Directories come first, so their
// files are not added again.
func (s *Stage) collectIncluded(included []inclusion) error {
	dirs := 0
	for _, i := range included {
		if !i.isDir || i.name == cacheDir {
			continue
		}
		dirs++
		s.Detail("Copied %s/ (custom)", i.name)
		if err := s.Content.tree(s.root, i.name, path.Join(ServerDir, i.name)); err != nil {
			return err
		}
	}
	for _, i := range included {
		to := path.Join(ServerDir, i.name)
		if i.isDir || s.Content.Has(to) {
			continue
		}
		s.Detail("Copied %s (custom)", i.name)
		if err := s.Content.tree(s.root, i.name, to); err != nil {
			return err
		}
	}
	if dirs > 0 && s.loud {
		s.Done("Included %d custom directories", dirs)
	}
	return nil
}

// collectCache adds the registry of the project, where MCPB_INCLUDE names it. Files that
// the bundle has already are those that were made for it. It comes last, as a server that
// was started in the staged tree has written there.
func (s *Stage) collectCache() error {
	if !s.Content.selection.cache {
		return nil
	}
	if err := os.RemoveAll(s.Staged.Dirs.Registry); err != nil {
		return err
	}
	s.Detail("Copied %s/ (custom)", cacheDir)
	if err := s.Content.tree(s.root, cacheDir, path.Join(ServerDir, cacheDir)); err != nil {
		return err
	}
	if s.report(); len(s.faults) > 0 {
		return s.Fail(ErrValidation)
	}
	return nil
}

// reportRest prints the top-level files of the project that the content lacks although no rule excludes them.
func (s *Stage) reportRest() {
	entries, err := fs.ReadDir(s.root.root.FS(), ".")
	if err != nil {
		return
	}
	var rest []string
	for _, e := range entries {
		name := e.Name()
		isPlace := func(place string) bool { return place == name || strings.HasPrefix(place, name+"/") }
		if strings.HasPrefix(name, ".") || isAboutProject(name) || slices.ContainsFunc(s.known, isPlace) ||
			!s.Content.selection.takes(name, e.IsDir()) {
			continue
		}
		if e.IsDir() {
			if inside, err := fs.ReadDir(s.root.root.FS(), name); err == nil && len(inside) == 0 {
				continue
			}
			name += "/"
		}
		rest = append(rest, name)
	}
	if len(rest) == 1 {
		s.Note("Not included: %s; add it with MCPB_INCLUDE", rest[0])
	} else if len(rest) > 1 {
		s.Note("Not included: %s; add them with MCPB_INCLUDE", cli.Some(rest, shown))
	}
}

// isAboutProject reports whether a file at the top of a project is for its developers, or
// has its own place in a bundle.
func isAboutProject(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "readme", "license", "licence", "copying", "notice", "authors", "changelog", "changes", "contributing",
		"security", "makefile", "justfile", "dockerfile", "containerfile", "icon":
		return true
	}
	return name == confFile || name == "run-server.sh"
}
