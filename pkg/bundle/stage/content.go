package stage

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/bundle/internal/gitignore"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
)

// A Content copies the project's files to the staged tree. The tree is checked, run and packed. The Content opens files
// below the project's directory, so no link leads out.
type Content struct {
	ctx   context.Context
	work  *os.Root // the staged tree
	Names mcpb.Names
	files []mcpb.File
	bytes int64

	selection selection

	leftOut   []string // files that were left out although the author may want them
	refused   []string // secrets that were left out, with line and rule
	unscanned []string // files that were not searched for secrets to their end
	secrets   bool     // a secret was found by its format
	faults    []string // the problems that prevent the bundle
}

const maxDepth = 32

// source is a directory that content is taken from.
type source struct {
	root *os.Root
	dir  string // its physical path
	base string // its path in the project, or "" for the project itself
}

func (c *Content) tree(s *source, name, to string) error {
	return c.entry(s, name, path.Join(s.base, name), to, nil)
}

// entry adds a directory or a file. name is its path in the source, and seen is its path in the
// project. Below a link the two differ, and entry checks both. trail contains the resolved
// directories above it.
func (c *Content) entry(s *source, name, seen, to string, trail []string) error {
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	info, err := s.root.Lstat(name)
	if err == nil && (trail == nil || info.Mode()&fs.ModeSymlink != 0) { // for the first path, a parent can be a link
		name, info, err = s.follow(name)
	}
	isDir, shown, target := err == nil && info.IsDir(), seen, path.Join(s.base, name)
	if isDir {
		shown += "/"
	}
	isOther := err == nil && target != seen && !c.selection.named[seen]
	if c.isLeftOut(seen, shown, isDir) || isOther && c.isLeftOut(target, seen, isDir) {
		return nil
	}
	switch {
	case errors.Is(err, errLeaves):
		c.faults = append(c.faults, "Symlink leaves the project: "+seen)
	case err != nil:
		c.faults = append(c.faults, fmt.Sprintf("%s: %v", seen, fsys.Cause(err)))
	case info.IsDir():
		return c.directory(s, name, seen, to, trail)
	case !info.Mode().IsRegular():
		c.faults = append(c.faults, seen+": not a regular file; remove it, or name it in "+ignoreName)
	default:
		return c.file(s, name, seen, to, info)
	}
	return nil
}

func (c *Content) directory(s *source, name, seen, to string, trail []string) error {
	if slices.Contains(trail, name) {
		c.faults = append(c.faults, "A link leads back to a directory around it: "+path.Join(s.base, name))
		return nil
	}
	if len(trail) > maxDepth {
		c.faults = append(c.faults, fmt.Sprintf("%s: more than %d directories deep", seen, maxDepth))
		return nil
	}
	dir, err := s.root.Open(name)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	dir.Close()
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	trail = append(trail[:len(trail):len(trail)], name)
	for _, e := range entries {
		err := c.entry(s, path.Join(name, e.Name()), path.Join(seen, e.Name()), path.Join(to, e.Name()), trail)
		if err != nil {
			return err
		}
	}
	return nil
}

// isLeftOut reports whether the bundle leaves a path of the project out. If the author may miss the file, it records
// the path shown.
func (c *Content) isLeftOut(name, shown string, isDir bool) bool {
	switch rule := c.selection.rule(name, isDir); rule {
	case "":
		return false
	case ignoreName, "litter": // the author does not miss these files
	case "version-control", "never-shipped":
		if path.Base(shown) != cacheDir { // a product gets a new registry
			c.leftOut = append(c.leftOut, shown)
		}
	default: // a file with secrets
		c.refused = append(c.refused, fmt.Sprintf("%s: %s, by its name", shown, rule))
	}
	return true
}

// maxScan limits the part of a file that is searched for secrets, in bytes.
const maxScan = 4 << 20

// isSecret reports whether a file contains a secret, and records the place. In a script or in metadata a secret is a
// fault, because the bundle needs these files.
func (c *Content) isSecret(seen string, head []byte, exec bool) bool {
	if c.selection.named[seen] {
		return false
	}
	findings := secrets.Scan(head)
	isNeeded := exec || script.HasShebang(head) || strings.HasSuffix(seen, ".sh") ||
		strings.HasSuffix(seen, ".meta.json")
	for _, f := range findings {
		finding := fmt.Sprintf("%s:%d: %s", seen, f.Line, f.Rule)
		if isNeeded {
			c.faults = append(c.faults, finding+": a secret in a file that the bundle needs")
		} else {
			c.refused = append(c.refused, finding)
		}
	}
	c.secrets = c.secrets || len(findings) > 0
	return len(findings) > 0
}

// file copies one file into the staged tree.
func (c *Content) file(s *source, name, seen, to string, info fs.FileInfo) error {
	if c.Has(to) && strings.HasPrefix(to, ServerDir+"/"+cacheDir+"/") {
		return nil // the bundle's own
	}
	if info.Size() > mcpb.MaxFile {
		return fmt.Errorf("%s has more than %d MB; leave it out with .mcpbignore", seen, mcpb.MaxFile>>20)
	}
	if c.bytes+info.Size() > mcpb.MaxTotal {
		return fmt.Errorf("more than %d MB of files with %s; leave some out with .mcpbignore", mcpb.MaxTotal>>20, seen)
	}
	in, err := boundedfile.OpenIn(s.root, name)
	if err != nil {
		c.faults = append(c.faults, fmt.Sprintf("%s: %v", seen, err))
		return nil
	}
	defer in.Close()
	head, err := io.ReadAll(io.LimitReader(in, maxScan))
	if err != nil {
		return fmt.Errorf("%s: %w", seen, fsys.Cause(err))
	}
	exec := info.Mode()&0o100 != 0
	if runtime.GOOS == "windows" {
		exec = script.HasShebang(head)
	}
	if c.isSecret(seen, head, exec) {
		return nil
	}
	content := io.LimitReader(io.MultiReader(bytes.NewReader(head), in), mcpb.MaxFile+1)
	f := mcpb.File{Name: to, Exec: exec, Open: func() (io.ReadCloser, error) { return io.NopCloser(content), nil }}
	if err := c.Names.Add(f); err != nil {
		c.faults = append(c.faults, "cannot be in a bundle: "+err.Error())
		return nil
	}
	if _, f.Size, err = f.Create(c.work, to, false); err != nil {
		return fmt.Errorf("%s: %w", seen, fsys.Cause(err))
	}
	if f.Size > maxScan && !c.selection.named[seen] {
		c.unscanned = append(c.unscanned, seen)
	}
	c.bytes += f.Size
	f.Open = func() (io.ReadCloser, error) { return c.work.Open(to) }
	c.files = append(c.files, f)
	return nil
}

var errLeaves = errors.New("leads out of the project")

// follow resolves a symbolic link. It returns the path of the target in the source.
func (s *source) follow(name string) (string, fs.FileInfo, error) {
	physical, err := filepath.EvalSymlinks(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		return "", nil, errors.New("a link that leads nowhere")
	}
	rel, err := filepath.Rel(s.dir, physical)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil, errLeaves
	}
	rel = filepath.ToSlash(rel)
	info, err := s.root.Lstat(rel)
	return rel, info, err
}

// Has reports whether the content has a file with exactly this name.
func (c *Content) Has(name string) bool {
	f, ok := c.Names.Find(name)
	return ok && f.Name == name
}

// HasBelow reports whether the content has a file whose name begins with a prefix.
func (c *Content) HasBelow(prefix string) bool {
	return slices.ContainsFunc(c.files, func(f mcpb.File) bool { return strings.HasPrefix(f.Name, prefix) })
}

// Files returns all files, by name.
func (c *Content) Files() []mcpb.File {
	files := slices.Clone(c.files)
	mcpb.Sort(files)
	return files
}

// Add adds a file that does not come from the project.
func (c *Content) Add(f mcpb.File) error {
	if err := c.Names.Add(f); err != nil {
		return fmt.Errorf("the project has a file with the name of one of the bundle's own: %w", err)
	}
	c.files = append(c.files, f)
	return nil
}

// A selection decides which files of a project go into its bundle.
type selection struct {
	ignore gitignore.Rules // .mcpbignore
	named  map[string]bool // files that MCPB_INCLUDE names
	cache  bool            // MCPB_INCLUDE names .registry
}

// ignoreName is the file with patterns of paths to leave out. maxIgnore is its maximum size in bytes.
const (
	ignoreName = ".mcpbignore"
	maxIgnore  = 1 << 20
)

// LeavesOut reports whether bundles leave a path of any project out, unless the project asks for it.
func LeavesOut(name string, isDir bool) bool { return !new(selection).takes(name, isDir) }

// rule returns the rule that leaves a path of the project out: a section of left-out.txt, or ignoreName. It is "" for a
// path that is part of the content. A rule also applies to all files below a directory.
func (s *selection) rule(name string, isDir bool) string {
	switch {
	case s.named[name] || s.cache && name == cacheDir:
		return ""
	case s.isIgnored(name, isDir):
		return ignoreName
	case s.cache:
		name = strings.TrimPrefix(name, cacheDir+"/")
	}
	return cmp.Or(find(leftOut()[3:], name, isDir), find(leftOut()[:3], name, isDir))
}

func (s *selection) takes(name string, isDir bool) bool { return s.rule(name, isDir) == "" }

// isIgnored reports whether .mcpbignore leaves a path out.
func (s *selection) isIgnored(name string, isDir bool) bool {
	return s.ignore.Ignores(name, isDir)
}

func isVersionControl(name string, isDir bool) bool { return find(leftOut()[:1], name, isDir) != "" }

//go:embed left-out.txt
var leftOutText string

// A list is a section of left-out.txt.
type list struct {
	name  string
	rules gitignore.Rules
}

// leftOut returns the lists of left-out.txt. After the first three, each list has files with secrets, and its name is
// the rule.
var leftOut = sync.OnceValue(func() (lists []list) {
	for _, section := range strings.Split(leftOutText, "\n[")[1:] {
		name, patterns, _ := strings.Cut(section, "]\n")
		lists = append(lists, list{name, gitignore.Parse(patterns)})
	}
	return lists
})

// find returns the first of some lists that names a path, or "". It ignores the case of letters.
func find(lists []list, name string, isDir bool) string {
	name = strings.ToLower(name)
	for _, l := range lists {
		if l.rules.Ignores(name, isDir) {
			return l.name
		}
	}
	return ""
}
