package stage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/internal/gitignore"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/shell"
)

// collect copies the files that every product has.
func (s *Stage) collect() error {
	if text, err := s.Project.ReadFile(filepath.Join(s.Project.Root, ignoreName), maxIgnore); err == nil {
		s.Content.selection.ignore = gitignore.Parse(string(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.Fault("%s: %v", ignoreName, err)
	}
	p := s.Project
	defaults := []defaultEntry{
		{"tools", p.Tools}, {"resources", p.Resources}, {"prompts", p.Prompts}, {"completions", p.Completions},
		{"server.d", p.Server}, {"lib", filepath.Join(p.Root, "lib")}, {"providers", p.Providers}, {"ui", p.UI},
		{"config", filepath.Join(p.Root, "config")}, {"VERSION", filepath.Join(p.Root, "VERSION")},
	}
	for _, name := range s.startedScripts() {
		if !slices.ContainsFunc(defaults, func(d defaultEntry) bool { return d.name == name }) {
			defaults = append(defaults, defaultEntry{name, filepath.Join(p.Root, name)})
		}
	}
	for _, d := range defaults {
		s.known = append(s.known, d.name)
		if rel, err := filepath.Rel(p.Root, d.dir); err == nil {
			s.known = append(s.known, filepath.ToSlash(rel))
		}
	}
	s.known = append(s.known, lock.FileName) // a product gets a new lock
	dirs, files := s.readInclude(s.known)
	for _, d := range defaults {
		if err := s.collectDefault(d.name, d.dir); err != nil {
			return err
		}
	}
	s.known = slices.Concat(s.known, dirs, files, s.Config.files())
	return s.collectIncluded(dirs, files)
}

// AddTree adds a file or a directory of the project at a path of the product, unless a rule leaves it out.
func (s *Stage) AddTree(name, to string) error {
	s.known = append(s.known, name)
	return s.Content.tree(s.root, name, to)
}

// AddNamed adds a file of the project that the product needs, and reports whether it is part of the content.
func (s *Stage) AddNamed(name, to string) (bool, error) {
	if s.Content.Has(to) {
		return true, nil // named twice
	}
	if s.Content.selection.isIgnored(name, false) {
		s.Warn("%s is not in the manifest: %s leaves it out", name, ignoreName)
		return false, nil
	}
	err := s.AddTree(name, to)
	return s.Content.Has(to), err
}

// ReadmeName is the name of the README in a project and in products.
const ReadmeName = "README.md"

// maxReadme limits a README, in bytes.
const maxReadme = 1 << 20

// ReadReadme returns the project's README, or nil if it is missing from the content.
func (s *Stage) ReadReadme() ([]byte, error) {
	if !s.Content.Has(ReadmeName) {
		return nil, nil
	}
	text, err := s.Project.ReadFile(s.InProject(ReadmeName), maxReadme)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ReadmeName, fsys.Cause(err))
	}
	return text, nil
}

// Readme returns the README of a package: the project's or a short one, a section about settings, and instructions.
func (s *Stage) Readme(name, version, settings string) (string, error) {
	own, err := s.ReadReadme()
	if err != nil {
		return "", err
	}
	text := cmp.Or(strings.TrimSpace(string(own)), "# "+OneLine(s.ID.Title)+"\n\n"+OneLine(s.ID.Description))
	instructions, err := s.Instructions(name, version)
	return text + settings + "\n\n" + instructions, err
}

// OneLine returns a text with each run of white space replaced by one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// AddTexts adds the README and the licence at the top of the project, and returns the name of the licence, or "".
func (s *Stage) AddTexts() (licence string, err error) {
	entries, err := fs.ReadDir(s.root.root.FS(), ".")
	for _, e := range entries {
		stem, end, _ := strings.Cut(strings.ToLower(e.Name()), ".")
		isText := end == "" || end == "md" || end == "txt"
		isLicence := isText && (stem == "license" || stem == "licence" || stem == "copying" || stem == "notice")
		if e.IsDir() || e.Name() != ReadmeName && !isLicence {
			continue
		}
		if err := s.AddTree(e.Name(), e.Name()); err != nil {
			return "", err
		}
		if isLicence && stem != "notice" {
			licence = e.Name()
		}
	}
	return licence, err
}

// checkQuoted searches the files that the manifest quotes for secrets.
func (s *Stage) checkQuoted() {
	for _, name := range append(s.Config.files(), confFile) {
		if content, err := s.Project.ReadFile(s.InProject(name), mcpb.MaxManifest); err == nil {
			s.Content.isSecret(path.Clean(filepath.ToSlash(name)), content, true)
		}
	}
}

// report prints the messages of the collector since the last report.
func (s *Stage) report() {
	c := &s.Content
	for _, fault := range c.faults {
		s.Fault("%s", fault)
	}
	if len(c.leftOut) > 0 {
		s.Warn("Left out: %s", cli.Some(c.leftOut, shown))
	}
	for _, refused := range c.refused {
		s.Warn("Refused: %s", refused)
	}
	if len(c.refused) > 0 || c.secrets {
		s.Note("  → Name a file that holds no secret in MCPB_INCLUDE (%s) to include it", confFile)
	}
	if len(c.unscanned) > 0 {
		s.Note("Searched for secrets in the first %d MB only: %s", maxScan>>20, cli.Some(c.unscanned, shown))
	}
	c.faults, c.leftOut, c.refused, c.unscanned, c.secrets = nil, nil, nil, nil, false
}

// shown is the number of names in a message.
const shown = 8

func openSource(dir, base string) (*source, error) {
	physical, err := fsys.Physical(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(physical)
	return &source{root, physical, base}, err
}

// A defaultEntry is a part that every project may have, and its directory or file.
type defaultEntry struct{ name, dir string }

func (s *Stage) collectDefault(name, dir string) error {
	if _, err := os.Lstat(dir); err != nil {
		return nil
	}
	s.Detail("Copied %s", name)
	to := path.Join(ServerDir, name)
	if rel, err := filepath.Rel(s.Project.Root, dir); err == nil && filepath.IsLocal(rel) {
		return s.Content.tree(s.root, filepath.ToSlash(rel), to)
	}
	elsewhere, err := openSource(dir, name) // for a setting such as MCPBASH_TOOLS_DIR
	if err != nil {
		return err
	}
	defer elsewhere.root.Close()
	return s.Content.tree(elsewhere, ".", to)
}

const cacheDir = ".registry"

// readInclude reads MCPB_INCLUDE, whose words are literal names of directories and files in the project. It prepares
// the selection for them. defaults are included anyway.
func (s *Stage) readInclude(defaults []string) (dirs, files []string) {
	s.Content.selection.named = map[string]bool{}
	for _, word := range strings.Fields(s.Config.conf["MCPB_INCLUDE"]) {
		name := strings.TrimRight(word, "/")
		isDir, reason := s.checkInclude(word, name)
		switch {
		case reason != "":
			s.Warn("MCPB_INCLUDE %s", reason)
		case !isDir:
			s.Content.selection.named[name] = true
			files = append(files, name)
		case s.isNew(name, defaults, dirs):
			s.Content.selection.cache = s.Content.selection.cache || name == cacheDir
			dirs = append(dirs, name)
		}
	}
	return dirs, files
}

// checkInclude returns the reason why a word is never included, or "". A file that is named is included even if a list
// leaves it out. A directory is not.
func (s *Stage) checkInclude(word, name string) (isDir bool, reason string) {
	parts := strings.Split(name, "/")
	switch {
	case name == "" || strings.HasPrefix(name, "/") || name == "." || strings.HasPrefix(name, "./") ||
		filepath.IsAbs(name):
		return false, "rejects absolute/relative path: " + word
	case slices.Contains(parts, "..") || slices.Contains(parts, "."):
		return false, "rejects path traversal: " + word
	case parts[0] == runtimes.Dir || name == "run-server.sh":
		return false, "rejects the runtime's own place: " + word
	}
	info, err := os.Stat(filepath.Join(s.root.dir, filepath.FromSlash(name)))
	if err != nil {
		return false, "directory not found: " + word
	}
	isDir = info.IsDir()
	names := []string{name}
	if target, _, err := s.root.follow(name); err == nil {
		names = append(names, target)
	}
	for _, one := range names {
		switch {
		case s.Content.selection.isIgnored(one, isDir):
			return isDir, "names what " + ignoreName + " leaves out: " + name
		case isVersionControl(one, isDir), isDir && one != cacheDir && !s.Content.selection.takes(one, true):
			return isDir, "rejects what is never shipped: " + name
		}
	}
	return isDir, ""
}

// isNew reports whether a directory is not included yet.
func (s *Stage) isNew(name string, defaults, dirs []string) bool {
	if top, _, _ := strings.Cut(name, "/"); slices.Contains(defaults, top) {
		s.Detail("Skipped %s/ (overlaps with default %s/)", name, top)
		return false
	}
	for _, other := range dirs {
		switch {
		case strings.HasPrefix(name+"/", other+"/"):
			return false
		case strings.HasPrefix(other, name+"/"):
			s.Warn("MCPB_INCLUDE names %s, which is part of %s, before it; name the latter only", other, name)
			return false
		}
	}
	return true
}

// collectIncluded adds the directories of MCPB_INCLUDE, and its files that are not in them.
func (s *Stage) collectIncluded(dirs, files []string) error {
	dirs = slices.DeleteFunc(dirs, func(name string) bool { return name == cacheDir }) // collectCache adds it last
	for _, name := range append(dirs, files...) {
		to, shown := path.Join(ServerDir, name), name
		if s.Content.Has(to) {
			continue
		}
		if slices.Contains(dirs, name) {
			shown += "/"
		}
		s.Detail("Copied %s (custom)", shown)
		if err := s.Content.tree(s.root, name, to); err != nil {
			return err
		}
	}
	if len(dirs) > 0 && s.Verbose {
		s.Done("Included %d custom directories", len(dirs))
	}
	return nil
}

// collectCache adds the project's registry if MCPB_INCLUDE names it, except files that were made for the bundle. It
// comes last, because it removes the registry that the server has written in the staged tree.
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
	s.report()
	return s.verdict()
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
			!s.Content.selection.takes(name, e.IsDir()) || isProduct(s.root.root.FS(), s.ID.Name, name, e.IsDir()) {
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

var (
	productFile = lazyregexp.New(`-[0-9].*\.(?:tgz|whl|tar)$|-plugin\.zip$`)
	separators  = lazyregexp.New(`[^a-z0-9]+`) // between the words of a name, which products write differently
)

// isProduct reports whether one of our commands made a file or a folder of the server with an id. The name of a file
// shows it. A folder has a file that only products contain, or is next to the archive of its npm package.
func isProduct(project fs.FS, id, name string, isDir bool) bool {
	if !isDir {
		words := func(text string) string { return "-" + separators.ReplaceAllString(ascii.Lower(text), "-") }
		return productFile.MatchString(name) && strings.Contains(words(name), words(id)+"-")
	}
	marks := []string{name + ".tgz", name + "/oci-layout", name + "/" + runtimes.Dir + "/context",
		path.Join(name, ServerDir, runtimes.Dir, "plugin.json")}
	return slices.ContainsFunc(marks, func(mark string) bool {
		_, err := fs.Stat(project, mark)
		return err == nil
	})
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

// maxRecord is the maximum size of a record of how a tool was made, in bytes.
const maxRecord = 1 << 20

// system are directories of programs that other machines have too.
var system = []string{
	"/bin", "/sbin", "/usr", "/lib", "/opt", "/snap", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew", "/Library",
	"/System", "/Applications",
}

// startedScripts returns the top-level entries of the project that contain files started by its tools. These are
// scripts of imported tools, and files that confine.exec names. A file outside of the project is a fault, unless it is
// a program of the system, because others lack it.
func (s *Stage) startedScripts() (names []string) {
	s.outside = map[string]bool{}
	add := func(file string) (inside bool) {
		local := filepath.FromSlash(file)
		if rel, err := filepath.Rel(s.Project.Root, local); filepath.IsAbs(local) && err == nil {
			local = rel
		}
		if inside = filepath.IsLocal(local) && local != "."; inside {
			names = append(names, strings.Split(filepath.ToSlash(filepath.Clean(local)), "/")[0])
		}
		return inside
	}
	for dir, record := range s.toolFiles(".wrap.json") {
		if script := rawjson.TextOf(record, "script"); script != "" && !add(script) {
			s.outside[dir] = true
			s.Fault("tools/%s starts %s, which is not in the project; run: mcp-bash add %s --copy --force", dir,
				script, shell.Quote(script))
		}
	}
	for dir, meta := range s.toolFiles("tool.meta.json") {
		declared, _ := access.ParseExtras(rawjson.Get(meta, "confine"))
		for _, program := range declared.Exec {
			isFile := strings.Contains(program, "/") && !slices.ContainsFunc(system, func(d string) bool {
				return fsys.Within(d, program)
			})
			if isFile && !s.outside[dir] && !add(program) {
				s.Fault("tools/%s may start %s (confine.exec), which is not in the project; copy it there", dir, program)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// toolFiles yields the folders of tools that contain a file with the given name, and its content. A file that cannot be
// read is a fault.
func (s *Stage) toolFiles(name string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		files, _ := fs.Glob(os.DirFS(s.Project.Tools), "*/"+name)
		for _, file := range files {
			text, err := s.Project.ReadFile(filepath.Join(s.Project.Tools, filepath.FromSlash(file)), maxRecord)
			if err != nil {
				s.Fault("tools/%s: %v", file, err)
				continue
			}
			if !yield(path.Dir(file), text) {
				return
			}
		}
	}
}

// MaxPicture is the maximum size of a picture in a product, in bytes.
const MaxPicture = 16 << 20

const pngSignature = "\x89PNG\r\n\x1a\n"

// AddIcon adds icon.png, or else icon.svg. It returns the name of an icon that all clients can show, or "".
func (s *Stage) AddIcon() (string, error) {
	for _, name := range []string{"icon.png", "icon.svg"} {
		content, err := s.Project.ReadFile(filepath.Join(s.Project.Root, name), MaxPicture)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			s.Warn("%s: %s; left out", name, fsys.Cause(err))
			continue
		case name == "icon.png" && !strings.HasPrefix(string(content), pngSignature):
			s.Warn("icon.png is not a PNG picture; left out")
			continue
		}
		if ok, err := s.AddNamed(name, name); err != nil {
			return "", err
		} else if !ok {
			continue
		}
		s.Done("Included icon: %s", name)
		if name == "icon.png" {
			return name, nil
		}
		s.Warn("icon.svg is not named in the manifest: clients take PNG; add icon.png (512x512)")
	}
	return "", nil
}
