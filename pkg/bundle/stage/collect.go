package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/internal/gitignore"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/lock"
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
	s.known = append(s.known, lock.FileName) // made anew
	included := s.readInclude(s.known)
	for _, d := range defaults {
		if err := s.collectDefault(d.name, d.dir); err != nil {
			return err
		}
	}
	for _, i := range included {
		s.known = append(s.known, i.name)
	}
	s.known = append(s.known, s.Config.files()...)
	return s.collectIncluded(included)
}

// AddTree adds a file or a directory of the project at a place of the product, by the rules for all files.
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

// Readme is the name of the README in a project and in products.
const Readme = "README.md"

// maxReadme limits a README, in bytes.
const maxReadme = 1 << 20

// ReadReadme returns the project's README, or nil if it is missing from the content.
func (s *Stage) ReadReadme() ([]byte, error) {
	if !s.Content.Has(Readme) {
		return nil, nil
	}
	text, err := s.Project.ReadFile(s.InProject(Readme), maxReadme)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Readme, fsys.Cause(err))
	}
	return text, nil
}

// AddTexts adds the README and the licence at the top of the project, and returns the name of the licence, or "".
func (s *Stage) AddTexts() (licence string, err error) {
	entries, err := fs.ReadDir(s.root.root.FS(), ".")
	for _, e := range entries {
		stem, end, _ := strings.Cut(strings.ToLower(e.Name()), ".")
		isText := end == "" || end == "md" || end == "txt"
		isLicence := isText && (stem == "license" || stem == "licence" || stem == "copying" || stem == "notice")
		if e.IsDir() || e.Name() != Readme && !isLicence {
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

// report prints what the collector found since the last report.
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
	if err != nil {
		return nil, err
	}
	return &source{root, physical, base}, nil
}

// A defaultEntry is a part that every project may have, and its directory or file.
type defaultEntry struct{ name, dir string }

// collectDefault adds one of the directories that every project may have.
func (s *Stage) collectDefault(name, dir string) error {
	if _, err := os.Lstat(dir); err != nil {
		return nil
	}
	s.Detail("Copied %s", name)
	to := path.Join(ServerDir, name)
	if rel, err := filepath.Rel(s.Project.Root, dir); err == nil && filepath.IsLocal(rel) {
		return s.Content.tree(s.root, filepath.ToSlash(rel), to)
	}
	elsewhere, err := openSource(dir, name) // one of MCPBASH_TOOLS_DIR and its like
	if err != nil {
		return err
	}
	defer elsewhere.root.Close()
	return s.Content.tree(elsewhere, ".", to)
}
