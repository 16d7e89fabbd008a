package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/wire/mcp"
)

// now returns the wall-clock time, for comparison with the times of files.
func now() time.Time { return time.Now() }

// Dir returns the folder of the skills of a project.
func Dir(project string) string { return filepath.Join(project, "skills") }

// A Folder is the skills folder of a project, which may change. It is safe for concurrent use.
type Folder struct {
	dir string
	ttl time.Duration
	log mcp.LogFunc
	// Withhold returns the reason why a skill is not served, or nil. It may be nil, and is set before the first use.
	Withhold func(name string) error

	mu      sync.Mutex
	read    time.Time
	current *List
	told    *List // the first list, or the list at the last call of Changed
	known   digests
	faults  string // that were logged last
}

// Open returns the skills folder of a project, or nil if it does not exist. ttl is the time for which a list stays
// valid.
func Open(dir string, ttl time.Duration, log mcp.LogFunc) *Folder {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	return &Folder{dir: dir, ttl: ttl, log: log}
}

// A List is a state of the skills. It is constant.
type List struct {
	Skills []*Skill
	Hash   string // differs between different lists
	byName map[string]*Skill
}

// Entry returns a skill as skills/list describes it.
func (s *Skill) Entry() json.RawMessage { return s.entry }

// List returns the current skills. It logs faults of skills once.
func (f *Folder) List() (*List, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil && time.Since(f.read) < f.ttl {
		return f.current, nil
	}
	skills, faults, known, err := read(f.dir, f.known)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "Unable to read the skills").WithReason(err)
	}
	if f.Withhold != nil {
		skills = slices.DeleteFunc(skills, func(s *Skill) bool {
			reason := f.Withhold(s.Name)
			if reason != nil {
				faults = append(faults, &Fault{Skill: s.Name, Problem: badFiles, File: s.Name, Text: reason.Error()})
			}
			return reason != nil
		})
	}
	f.known, f.read = known, time.Now()
	l := newList(skills)
	if f.current == nil || f.current.Hash != l.Hash {
		f.current = l
	}
	if f.told == nil {
		f.told = f.current
	}
	f.report(faults)
	return f.current, nil
}

// Changed reports whether the list has changed since the last call. The first call compares it with the first list.
func (f *Folder) Changed() bool {
	l, err := f.List()
	if err != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := f.told != l
	f.told = l
	return changed
}

const logger = "mcp.skills"

func (f *Folder) report(faults []*Fault) {
	var text strings.Builder
	for _, fault := range faults {
		text.WriteString(fault.Error() + "\n")
	}
	if text.String() == f.faults {
		return
	}
	f.faults = text.String()
	for _, fault := range faults {
		f.log(mcp.Warning, logger, "skills/"+fault.Error()+"; the skill is not served")
	}
}

// Only returns the list without the skills for whose names keep returns false.
func (l *List) Only(keep func(name string) bool) *List {
	return newList(slices.DeleteFunc(slices.Clone(l.Skills), func(s *Skill) bool { return !keep(s.Name) }))
}

func newList(skills []*Skill) *List {
	l := &List{Skills: skills, byName: make(map[string]*Skill, len(skills))}
	sum := sha256.New()
	for _, s := range skills {
		l.byName[s.Name] = s
		sum.Write(s.entry)
	}
	l.Hash = hex.EncodeToString(sum.Sum(nil))
	return l
}

// Find returns the skill whose SKILL.md has a URI, or nil.
func (l *List) Find(uri string) *Skill {
	if s, file := l.file(uri); file != nil && file.Path == textFile {
		return s
	}
	return nil
}

// file returns the skill and the file of a URI.
func (l *List) file(uri string) (*Skill, *File) {
	name, file, ok := parseURI(uri)
	s := l.byName[name]
	if !ok || s == nil || strings.HasSuffix(uri, "/") {
		return nil, nil
	}
	for i := range s.Files {
		if s.Files[i].Path == file {
			return s, &s.Files[i]
		}
	}
	return s, nil
}

// IsFile reports whether a URI names a file of a skill.
func (l *List) IsFile(uri string) bool {
	_, file := l.file(uri)
	return file != nil
}

// Resources returns the SKILL.md of each skill as a Resource object.
func (l *List) Resources() []json.RawMessage {
	list := make([]json.RawMessage, len(l.Skills))
	for i, s := range l.Skills {
		list[i] = s.resource
	}
	return list
}

// textType is the MIME type of SKILL.md.
const textType = "text/markdown"

// directoryType is the MIME type of a folder.
const directoryType = "inode/directory"

// Children returns the files and folders directly below the folder that a URI names, each as a Resource object. It
// returns nil if there is no such folder.
func (l *List) Children(uri string) []json.RawMessage {
	name, dir, ok := parseURI(uri)
	s := l.byName[name]
	if !ok || s == nil {
		return nil
	}
	if dir != "" {
		dir += "/"
	}
	var list []json.RawMessage
	last := ""
	for _, f := range s.Files {
		rest, below := strings.CutPrefix(f.Path, dir)
		if !below {
			continue
		}
		var b rawjson.Builder
		if child, _, deeper := strings.Cut(rest, "/"); deeper {
			if child == last {
				continue
			}
			last = child
			b.Object().Name("uri").String(uriOf(name, dir+child)).Name("name").String(child).
				Name("mimeType").String(directoryType)
		} else {
			if f.Path == textFile {
				list = append(list, s.resource)
				continue
			}
			b.Object().Name("uri").String(uriOf(name, f.Path)).Name("name").String(rest).Name("size").Int(int(f.Size))
			b.Optional("mimeType", media.ByName(f.Path))
		}
		list = append(list, b.End().Bytes())
	}
	return list
}

var errNotFound = &provider.Failure{Status: provider.NotFound}

// ReadTyped implements [provider.Typed]. It reads only files that the list has.
func (f *Folder) ReadTyped(_ context.Context, uri string, limit int) (data []byte, mimeType string, err error) {
	l, err := f.List()
	if err != nil {
		return nil, "", err
	}
	s, file := l.file(uri)
	if file == nil {
		return nil, "", errNotFound
	}
	if file.Size > int64(limit) {
		return nil, "", provider.OverLimit(limit)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, "", errNotFound
	}
	defer root.Close()
	dir, err := root.OpenRoot(s.Name)
	if err != nil {
		return nil, "", errNotFound
	}
	defer dir.Close()
	if info, err := dir.Lstat(file.Path); err != nil || !info.Mode().IsRegular() {
		return nil, "", errNotFound
	}
	data, err = boundedfile.ReadIn(dir, path.Clean(file.Path), limit)
	if _, large := errors.AsType[*boundedfile.TooLargeError](err); large {
		return nil, "", provider.OverLimit(limit)
	} else if err != nil {
		return nil, "", errNotFound
	}
	return data, media.ByName(file.Path), nil
}

// Read implements [provider.Provider].
func (f *Folder) Read(ctx context.Context, uri string, limit int) ([]byte, error) {
	data, _, err := f.ReadTyped(ctx, uri, limit)
	return data, err
}
