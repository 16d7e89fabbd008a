package kinds

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// Completions are scripts that complete arguments. A project declares them; they are not
// discovered (registry section 8).
var Completions = &Kind{
	Key:        "completions",
	File:       "completions.json",
	Logger:     "mcp.completion",
	Noun:       "completion",
	Name:       "Completions registry",
	code:       mcp.CodeMethodNotFound,
	message:    "Completion not found",
	FaultLevel: mcp.Err,
	TTL:        func(d *project.Discovery) time.Duration { return d.RegisterTTL },
	Build:      buildCompletion,
	combine: func(a *Assembly) []item.Candidate {
		items := a.standard()
		slices.SortStableFunc(items, byName)
		return items
	},
}

// completionPath returns the path of a script relative to the project root; ok is false
// for a script outside. The directories may be symbolic links, the script may not.
func completionPath(p *project.Project, path string) (rel string, ok bool) {
	if path == "" {
		return "", false
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(p.Root, path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	path = filepath.Join(dir, filepath.Base(path))
	rel, err = filepath.Rel(p.Root, path)
	if err != nil || !filepath.IsLocal(rel) || !folder.StampOfPath(path).IsFile() {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

var completionFields = []string{"name", "path", "kind", "timeoutSecs"}

// buildCompletion builds a completion. It leaves out an entry that names no script.
func buildCompletion(s *item.Input) (item.Candidate, bool) {
	s.Recheck() // the target of the path may change at any time
	name, _ := s.Text("name")
	name = strings.Join(strings.Fields(name), " ")
	path, ok := completionPath(s.Project, s.Path)
	switch {
	case name == "":
		return item.Candidate{}, s.LeaveOut("Completion entry missing name")
	case !s.CheckName(name):
		return item.Candidate{}, false
	case !ok:
		return item.Candidate{}, s.LeaveOut(fmt.Sprintf("Completion path %s invalid or outside server root", s.Path))
	}
	s.Path = path
	file := filepath.Join(s.Project.Root, filepath.FromSlash(path))
	if _, err := script.Command(file); errors.Is(err, script.ErrNotRunnable) { // T-44
		s.Log(item.Message{Level: mcp.Warning, At: s.Label,
			Text: fmt.Sprintf("%s is not runnable; run chmod +x %s, or begin it with #!", s.Path, shell.Quote(file))})
	}
	s.CheckKeys(completionFields)
	w := s.Begin(name)
	w.Put("path", rawjson.Quote(s.Path))
	w.Put("kind", rawjson.Quote("shell"))
	w.Put("timeoutSecs", s.Limit("timeoutSecs"))
	return item.Candidate{Item: item.Item{Name: name, JSON: w.End(completionFields)}, ID: name, Path: s.Path}, true
}

// sidecarSuffixes are the suffixes of completion scripts. A completion script has the name of a file of the same
// directory and one of these suffixes.
var sidecarSuffixes = []string{".completion.sh", ".completion"}

// Sidecars returns the possible paths of the completion script for a prompt or resource, in order of precedence.
func Sidecars(file string) []string {
	bases := []string{file}
	dir, name := path.Split(file)
	if base := item.Stem(name); base != name {
		bases = append(bases, dir+base)
	}
	return sidecars(bases)
}

// TemplateSidecars returns the possible paths of the completion script for a template, in order of
// precedence (R-83a). It returns nil for a name that is not a valid file name.
func TemplateSidecars(name string) []string {
	if name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return nil
	}
	return sidecars([]string{name, name + "/" + name})
}

func sidecars(bases []string) []string {
	var list []string
	for _, base := range bases {
		for _, suffix := range sidecarSuffixes {
			list = append(list, base+suffix)
		}
	}
	return list
}

// isSidecar reports whether a file is a completion script: it has the suffix of one, and no metadata. A
// script that cannot be started counts too, because it must not be published.
func isSidecar(v *scan.Visit, file string) bool {
	for _, suffix := range sidecarSuffixes {
		if strings.HasSuffix(file, suffix) {
			return !v.HasFile(file+item.MetadataSuffix) &&
				!(strings.HasSuffix(file, ".sh") && v.HasFile(item.Stem(file)+item.MetadataSuffix))
		}
	}
	return false
}

// describing returns the metadata of a file, or nil. The metadata file called generic describes a file that
// has no metadata and is the only content file of its directory (R-33a).
func describing(v *scan.Visit, file, generic string, isContent func(file string) bool) *scan.Metadata {
	if own := v.MetadataOf(file); own != nil {
		return own
	}
	if v.Depth == 0 || !v.HasFile(generic) || file == readme || !isContent(file) {
		return nil
	}
	for other := range v.Files {
		if other != file && other != readme && !isSidecar(v, other) && isContent(other) {
			return nil
		}
	}
	meta := v.MetadataFile(generic)
	if template, _ := rawjson.Text(meta.Last(URITemplate)); !meta.Usable || meta.Moved || template != "" {
		return nil
	}
	meta.Paired = true
	return meta
}

const readme = "README.md"

// isDocumentation reports whether a file without metadata is the README of a directory whose other files have metadata.
func isDocumentation(v *scan.Visit, file string) bool { return file == readme && v.HasMetadata() }

// findMisplaced finds tools that are not in a separate directory and so are not offered.
func findMisplaced(v *scan.Visit) {
	for file := range v.Files {
		head, err := v.Head(file)
		described := err == nil && (head.Header != nil || head.Fault != (item.Fault{}) || v.MetadataOf(file) != nil ||
			len(v.Unreadable(file)) > 0)
		if err == nil && (head.Mode&0o111 != 0 || described) {
			v.Add(item.Candidate{Path: file, Claim: true})
		}
	}
}

// dropMisplaced removes the tools that [findMisplaced] found. It warns about each tool that
// no declared entry names.
func (a *Assembly) dropMisplaced() {
	dir := folder.Label(a.Project.Root, a.Project.Tools)
	a.Found = slices.DeleteFunc(a.Found, func(f item.Candidate) bool {
		if !f.Claim {
			return false
		}
		same := func(declared item.Candidate) bool { return path.Clean(declared.Path) == f.Path }
		if a.Declared == nil || !slices.ContainsFunc(a.Declared.Found, same) {
			text := fmt.Sprintf("is not offered: each tool needs a separate directory; "+
				"move it to %s/%s/, or name it in server.d/register.json", dir, item.Stem(f.Path))
			file := path.Join(dir, f.Path)
			a.log(item.Message{Level: mcp.Warning, Topic: item.Misplaced, At: item.Place{File: file}, Text: text,
				Logged: file + " " + text})
		}
		return true
	})
}
