// Package skill finds and reads the skills of a project. A skill is a folder skills/NAME with a file SKILL.md, which
// has instructions for agents, and other files. Clients get them by the extension io.modelcontextprotocol/skills
// (SEP-2640).
package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamljson"
)

// textFile is the file that every skill has.
const textFile = "SKILL.md"

// Limits of one skill; every client accepts skills up to the first two (SEP-2640).
const (
	maxFiles       = 512
	maxBytes       = 16 << 20
	maxSkills      = 200
	maxLevels      = 8    // of folders in a skill
	maxEntries     = 2048 // of one folder
	maxName        = 64
	maxDescription = 1024 // characters
)

// A Skill is one usable skill.
type Skill struct {
	Name  string
	Files []File // by path; with SKILL.md
	entry json.RawMessage

	resource json.RawMessage // SKILL.md as a Resource object
}

// A File is one file of a skill.
type File struct {
	Path   string // relative to the skill's folder, with slashes
	Size   int64  // bytes
	digest string
}

// uriOf returns the URI of a file or folder of a skill: skill://NAME/PATH. An empty path is the skill's folder.
func uriOf(name, file string) string {
	u := "skill://" + name
	for part := range strings.SplitSeq(file, "/") {
		if part != "" {
			u += "/" + url.PathEscape(part)
		}
	}
	return u
}

// parseURI returns the skill and the path that a URI names.
func parseURI(uri string) (name, file string, ok bool) {
	rest, ok := strings.CutPrefix(uri, "skill://")
	if !ok || strings.ContainsAny(rest, "?#") {
		return "", "", false
	}
	name, rest, _ = strings.Cut(rest, "/")
	file, err := url.PathUnescape(strings.TrimSuffix(rest, "/"))
	if err != nil || strings.Contains(strings.ToLower(rest), "%2f") || file != "" && path.Clean("/"+file) != "/"+file {
		return "", "", false
	}
	return name, file, true
}

// digests has the digests of files that were read before.
type digests map[string]stamped

type stamped struct {
	stamp  folder.Stamp
	digest string
}

// Read returns the usable skills below a directory, by name, and the faults of the others. If the directory is
// missing, both are empty.
func Read(dir string) ([]*Skill, []*Fault, error) {
	list, faults, _, err := read(dir, nil)
	return list, faults, err
}

func read(dir string, known digests) (list []*Skill, faults []*Fault, seen digests, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, fsys.Cause(err)
	}
	defer root.Close()
	entries, err := readDir(root, ".")
	if err != nil {
		return nil, nil, nil, err
	}
	seen = digests{}
	for _, e := range entries {
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue // such as a README of the folder
		}
		if len(list)+len(faults) == maxSkills {
			faults = append(faults, &Fault{Skill: e.Name(), Problem: badFiles, File: e.Name(),
				Text: fmt.Sprintf("a project has at most %d skills", maxSkills)})
			break
		}
		r := reader{name: e.Name(), known: known, seen: seen}
		if s, fault := r.read(root, e); fault != nil {
			faults = append(faults, fault)
		} else {
			list = append(list, s)
		}
	}
	return list, faults, seen, nil
}

// readDir returns the visible entries of a folder, by name.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	d, err := root.Open(name)
	if err != nil {
		return nil, fsys.Cause(err)
	}
	defer d.Close()
	entries, err := d.ReadDir(maxEntries)
	if err != nil && err != io.EOF {
		return nil, fsys.Cause(err)
	}
	if len(entries) == maxEntries {
		return nil, fmt.Errorf("it has %d or more entries", maxEntries)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// A reader reads one skill.
type reader struct {
	name        string
	known, seen digests
	files       []File
	bytes       int64
	text        []byte // of SKILL.md
}

func (r *reader) fault(p Problem, file, format string, args ...any) *Fault {
	return &Fault{Skill: r.name, Problem: p, File: path.Join(r.name, file), Text: fmt.Sprintf(format, args...)}
}

func (r *reader) read(root *os.Root, e fs.DirEntry) (*Skill, *Fault) {
	if !e.IsDir() {
		return nil, r.fault(irregular, "", "is a symbolic link; copy the folder")
	}
	dir, err := root.OpenRoot(r.name)
	if err != nil {
		return nil, r.fault(unreadable, "", "%v", fsys.Cause(err))
	}
	defer dir.Close()
	if fault := r.walk(dir, ".", 0); fault != nil {
		return nil, fault
	}
	text := slices.IndexFunc(r.files, func(f File) bool { return f.Path == textFile })
	if text < 0 {
		return nil, r.fault(noText, "", "has no %s", textFile)
	}
	matter, err := parseFrontmatter(r.text)
	if err != nil {
		return nil, r.fault(badFrontmatter, textFile, "%v", err)
	}
	if fault := r.check(matter); fault != nil {
		return nil, fault
	}
	s := &Skill{Name: r.name, Files: r.files}
	s.entry = s.makeEntry(matter)
	var b rawjson.Builder
	s.resource = b.Object().Name("uri").String(uriOf(s.Name, textFile)).Name("name").String(s.Name).
		Name("description").String(rawjson.TextOf(matter, "description")).Name("size").Int(int(s.Files[text].Size)).
		Name("mimeType").String(textType).End().Bytes()
	return s, nil
}

// walk reads the files of a folder and of the folders in it.
func (r *reader) walk(dir *os.Root, at string, level int) *Fault {
	if level > maxLevels {
		return r.fault(badFiles, at, "is more than %d folders deep", maxLevels)
	}
	entries, err := readDir(dir, at)
	if err != nil {
		return r.fault(unreadable, at, "%v", err)
	}
	for _, e := range entries {
		name := path.Join(at, e.Name())
		var fault *Fault
		switch {
		case !utf8.ValidString(e.Name()) || strings.ContainsFunc(e.Name(), isControl):
			fault = r.fault(irregular, at, "a name in it has control characters or is not UTF-8")
		case e.IsDir():
			fault = r.walk(dir, name, level+1)
		case e.Type().IsRegular():
			fault = r.file(dir, name)
		default:
			fault = r.fault(irregular, name, "is not a regular file; copy what it refers to")
		}
		if fault != nil {
			return fault
		}
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }

func (r *reader) file(dir *os.Root, name string) *Fault {
	if len(r.files) == maxFiles {
		return r.fault(badFiles, "", "has more than %d files", maxFiles)
	}
	f, err := boundedfile.OpenIn(dir, name)
	if err != nil {
		return r.fault(unreadable, name, "%v", err)
	}
	defer f.Close()
	key, stamp := r.name+"/"+name, folder.StampOfFile(f)
	tooLarge := func() *Fault { return r.fault(badFiles, "", "has more than %d MiB", maxBytes>>20) }
	if r.bytes+int64(stamp.Size) > maxBytes {
		return tooLarge()
	}
	old, known := r.known[key]
	if known && old.stamp == stamp && name != textFile {
		r.seen[key] = old
		r.add(name, int64(stamp.Size), old.digest)
		return nil
	}
	text, err := boundedfile.ReadAll(f, int(maxBytes-r.bytes))
	if _, large := errors.AsType[*boundedfile.TooLargeError](err); large {
		return tooLarge()
	}
	if err != nil {
		return r.fault(unreadable, name, "%v", err)
	}
	if name == textFile {
		r.text = text
	}
	sum := sha256.Sum256(text)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if stamp.Size == uint64(len(text)) && stamp.Settled(now()) {
		r.seen[key] = stamped{stamp, digest}
	}
	r.add(name, int64(len(text)), digest)
	return nil
}

func (r *reader) add(name string, size int64, digest string) {
	r.files = append(r.files, File{name, size, digest})
	r.bytes += size
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

// ValidName reports whether a text can be the name of a skill.
func ValidName(name string) bool { return len(name) <= maxName && nameForm().MatchString(name) }

// check reports what the front matter lacks.
func (r *reader) check(matter json.RawMessage) *Fault {
	name, ok := rawjson.Text(rawjson.Get(matter, "name"))
	switch {
	case !ok || name == "":
		return r.fault(badName, textFile, "the front matter has no text \"name\"; add name: %s", r.name)
	case name != r.name:
		return r.fault(badName, textFile, "name is %q, but the folder is %s; use one name for both", name, r.name)
	case !ValidName(name):
		return r.fault(badName, textFile, "name %q must have 1 to %d lower-case letters, digits and single hyphens", name,
			maxName)
	}
	description, ok := rawjson.Text(rawjson.Get(matter, "description"))
	switch n := utf8.RuneCountInString(description); {
	case !ok || strings.TrimSpace(description) == "":
		return r.fault(badDescription, textFile,
			"the front matter has no text \"description\"; state what the skill is for, and when to use it")
	case n > maxDescription:
		return r.fault(badDescription, textFile, "description has %d characters, at most %d are allowed", n, maxDescription)
	}
	return nil
}

// makeEntry returns the skill as skills/list and skills/get describe it.
func (s *Skill) makeEntry(matter json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("uri").String(uriOf(s.Name, textFile)).Name("frontmatter").Raw(matter).Name("resources").Array()
	for _, f := range s.Files {
		b.Object().Name("uri").String(uriOf(s.Name, f.Path)).Name("digest").String(f.digest).
			Name("size").Int(int(f.Size)).End()
	}
	return b.End().End().Bytes()
}

// A Problem is a reason why a skill is not served.
type Problem string

const (
	noText         Problem = "text"        // there is no SKILL.md, or it cannot be read
	badFrontmatter Problem = "frontmatter" // of SKILL.md
	badName        Problem = "name"        // is not a name, or differs from the folder's
	badDescription Problem = "description" // is missing or too long
	badFiles       Problem = "files"       // there are too many, or they are too large
	irregular      Problem = "irregular"   // a file is a link, a pipe or a device
	unreadable     Problem = "unreadable"  // a file or folder
)

// A Fault is a problem of one skill.
type Fault struct {
	Skill   string // the name of its folder
	Problem Problem
	File    string // relative to the skills folder, with slashes
	Text    string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.File, f.Text) }

const maxFrontmatter = 64 << 10 // bytes

// parseFrontmatter returns the front matter of a SKILL.md as a JSON object. Clients compare it with what they
// parse.
func parseFrontmatter(text []byte) (json.RawMessage, error) {
	matter, err := cutFrontmatter(bytes.TrimPrefix(text, rawjson.ByteOrderMark))
	if err != nil {
		return nil, err
	}
	documents, err := yamljson.Parse(matter, 1)
	if _, isSyntax := errors.AsType[*yamljson.SyntaxError](err); isSyntax {
		return nil, fmt.Errorf("the front matter is not YAML: %w", err)
	} else if err != nil {
		return nil, err
	}
	if len(documents) != 1 || rawjson.KindOf(documents[0].JSON) != rawjson.Object {
		return nil, errors.New("the front matter is not a mapping of keys to values")
	}
	return documents[0].JSON, nil
}

// cutFrontmatter returns the text between the first two lines "---".
func cutFrontmatter(text []byte) ([]byte, error) {
	rest, ok := cutLine(text)
	if !ok {
		return nil, errors.New(`the first line must be "---"`)
	}
	for at := 0; at < len(rest); {
		if _, ok := cutLine(rest[at:]); ok {
			if at > maxFrontmatter {
				return nil, fmt.Errorf("the front matter has more than %d bytes", maxFrontmatter)
			}
			if !utf8.Valid(rest[:at]) {
				return nil, errors.New("the front matter is not valid UTF-8")
			}
			return rest[:at], nil
		}
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, errors.New(`the front matter has no last line "---"`)
}

// cutLine returns the text after the first line, if that line is "---".
func cutLine(text []byte) (rest []byte, ok bool) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest, bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}
