package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

const (
	lockFile        = ".lock"
	DefaultLockWait = 5 * time.Second
)

type store struct {
	dir   string
	check func(path string) error // returns an error if other users could have written the path
	limit int                     // the maximum size of a file, in bytes
	wait  time.Duration
	skew  atomic.Int64 // nanoseconds by which the file system's clock is ahead of the system clock
}

var (
	errMissing   = errors.New("missing")
	errOvertaken = errors.New("another program was faster")
)

// sum returns the hash, or "" if there is no valid file.
func (f *envelope) sum() string {
	if f == nil {
		return ""
	}
	return f.hash
}

func (s *store) path(file string) string { return filepath.Join(s.dir, file) }

func (s *store) stamp(file string) folder.Stamp { return folder.StampOfPath(s.path(file)) }

// File returns the items in a kind's registry file. It does not check the project. The error is [fs.ErrNotExist], or
// the reason why the file is invalid.
func (c *Catalog) File(kind *kinds.Kind) (*List, error) {
	file, err := c.store.read(kind)
	if errors.Is(err, errMissing) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return file.list(kind), nil
}

// read reads the registry file of a kind. The error is errMissing, or the reason why the file is invalid.
func (s *store) read(k *kinds.Kind) (*envelope, error) {
	var text []byte
	var stamp folder.Stamp
	err := s.check(s.path(k.File))
	if err == nil {
		text, stamp, err = folder.ReadFile(s.path(k.File), s.limit)
	}
	switch {
	case err != nil && folder.Missing(err):
		return nil, errMissing
	case err != nil:
		return nil, fsys.Cause(err)
	}
	file, err := parseEnvelope(text)
	if err != nil {
		return nil, err
	}
	file.stamp = stamp
	return file, nil
}

// write writes the registry file of a kind, unless there is a valid file with the same hash, and returns the stamp of
// the file. wait is the maximum time to wait for the lock. If over is not nil, the current file must have the hash
// *over ("": there is no valid file). Otherwise the error is errOvertaken. Other errors are an
// [*atomicfile.LockedError], an [*atomicfile.UnwritableError], or the context's error.
func (s *store) write(
	ctx context.Context, k *kinds.Kind, hash string, text []byte, over *string, wait time.Duration,
) (folder.Stamp, error) {
	dir, err := s.open()
	if err != nil {
		return folder.Stamp{}, &atomicfile.UnwritableError{Err: err}
	}
	defer dir.Close()
	unlock, err := s.lock(ctx, dir, wait)
	if err != nil {
		return folder.Stamp{}, err
	}
	defer unlock()
	there, err := s.read(k)
	switch {
	case err == nil && there.hash == hash:
		return there.stamp, nil
	case over != nil && there.sum() != *over:
		return folder.Stamp{}, errOvertaken
	}
	written, err := atomicfile.Write(dir, k.File, text)
	if err != nil {
		return folder.Stamp{}, &atomicfile.UnwritableError{Err: err}
	}
	s.observe(written)
	// The renaming has changed the stamp. If another program has replaced the file since
	// then, the new stamp is unknown.
	if there := s.stamp(k.File); there.Dev == written.Dev && there.Ino == written.Ino {
		return there, nil
	}
	return folder.Stamp{}, nil
}

// open opens the directory for writing, and creates it if needed.
func (s *store) open() (*os.Root, error) {
	err := s.check(s.dir)
	if err == nil {
		return os.OpenRoot(s.dir)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return os.OpenRoot(s.dir)
}

// sweep removes the partial files of killed programs. It takes the lock, so no program is writing one of them. Files
// that cannot be removed stay until the next refresh.
func (s *store) sweep(ctx context.Context) {
	if s.check(s.dir) != nil {
		return
	}
	dir, err := os.OpenRoot(s.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := fs.ReadDir(dir.FS(), ".")
	left := slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !atomicfile.IsTemporary(e.Name()) || !e.Type().IsRegular()
	})
	if len(left) == 0 {
		return
	}
	unlock, err := s.lock(ctx, dir, 0)
	if err != nil {
		return
	}
	defer unlock()
	for _, e := range left {
		dir.Remove(e.Name())
	}
}

// lock takes the lock of the directory. The system releases it if the process dies.
func (s *store) lock(ctx context.Context, dir *os.Root, wait time.Duration) (unlock func(), err error) {
	f, err := dir.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &atomicfile.UnwritableError{Err: err}
	}
	if err := atomicfile.Lock(ctx, f, "registry.refresh", wait); err != nil {
		f.Close()
		if locked, ok := errors.AsType[*atomicfile.LockedError](err); ok {
			locked.Wait = s.wait // the wait for another kind counts
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// observe updates the skew of the file system's clock from the stamp of a file that was just
// written.
func (s *store) observe(written folder.Stamp) {
	if written.Ctime != 0 {
		s.skew.Store(written.Ctime - time.Now().UnixNano())
	}
}

// clock returns the time of the file system's clock at the moment now. The result is never
// later than now, because stamps lag behind the clock.
func (s *store) clock(now time.Time) time.Time {
	return now.Add(min(0, time.Duration(s.skew.Load())))
}

// formatVersion is the version of the file's format. schemaVersion is the version of the items' format.
const (
	formatVersion = "1"
	schemaVersion = "1"
)

// envelopeNesting is the maximum depth of a registry file. Items are some levels deeper in
// it than in metadata.
const envelopeNesting = item.MaxNesting + 10

// writeEnvelope returns the text of a registry file, or nil if it would be longer than limit bytes.
func writeEnvelope(items []json.RawMessage, hash string, generated time.Time, limit int) []byte {
	size := 1024
	for _, item := range items {
		size += 2 * len(item)
	}
	dst := make([]byte, 0, min(size, limit))
	dst = append(dst, "{\n  \"format_version\": "+formatVersion+",\n  \"version\": "+schemaVersion+",\n"...)
	dst = append(dst, "  \"generatedAt\": \""...)
	dst = generated.UTC().AppendFormat(dst, "2006-01-02T15:04:05Z")
	dst = append(dst, "\",\n  \"items\": ["...)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendIndent(append(dst, "\n    "...), item, 2)
		if len(dst) > limit {
			return nil
		}
	}
	if len(items) > 0 {
		dst = append(dst, "\n  "...)
	}
	dst = append(dst, "],\n  \"hash\": "...)
	dst = rawjson.AppendString(dst, hash)
	dst = append(dst, ",\n  \"total\": "...)
	dst = strconv.AppendInt(dst, int64(len(items)), 10)
	dst = append(dst, "\n}\n"...)
	if len(dst) > limit {
		return nil
	}
	return dst
}

// An envelope is a valid registry file.
type envelope struct {
	hash  string
	items []json.RawMessage // as written
	stamp folder.Stamp
}

// parseEnvelope reads the text of a registry file. The error is the reason why the text is invalid.
func parseEnvelope(text []byte) (*envelope, error) {
	doc, err := item.CheckJSON(text, envelopeNesting)
	if err != nil {
		return nil, err
	}
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, item.ErrNoObject
	}
	if string(rawjson.Get(doc, "format_version")) != formatVersion {
		return nil, errors.New("format_version is not " + formatVersion)
	}
	items := rawjson.Get(doc, "items")
	if rawjson.KindOf(items) != rawjson.Array {
		return nil, errors.New("items is not an array")
	}
	e := &envelope{hash: rawjson.TextOf(doc, "hash")}
	if e.hash == "" {
		return nil, errors.New("missing hash")
	}
	for item := range rawjson.Elements(items) {
		if rawjson.KindOf(item) != rawjson.Object {
			return nil, errors.New("an item is not an object")
		}
		e.items = append(e.items, item)
	}
	return e, nil
}

// compact returns the items without white space.
func (e *envelope) compact() []json.RawMessage {
	size := 0
	for _, item := range e.items {
		size += len(item)
	}
	arena := make([]byte, 0, size)
	list := make([]json.RawMessage, len(e.items))
	for i, item := range e.items {
		start := len(arena)
		arena = rawjson.AppendCompact(arena, item)
		list[i] = arena[start:len(arena):len(arena)]
	}
	return list
}

func (e *envelope) list(kind *kinds.Kind) *List {
	l := &List{Kind: kind, Hash: e.hash, Items: make([]item.Item, len(e.items))}
	for i, entry := range e.compact() {
		l.Items[i] = item.Item{Name: rawjson.TextOf(entry, "name"), JSON: entry}
	}
	return l
}

func (e *envelope) found() []item.Candidate {
	list := make([]item.Candidate, len(e.items))
	for i, entry := range e.compact() {
		list[i] = item.CandidateOf(entry)
	}
	return list
}

// hashOf returns the SHA-256 of the canonical form of a registry's items. It leaves out derived URIs, which depend on
// the path of the project.
func hashOf(items []json.RawMessage) string {
	h := sha256.New()
	h.Write([]byte{'['})
	var text []byte
	for i, item := range items {
		if text = text[:0]; i > 0 {
			text = append(text, ',')
		}
		text = rawjson.AppendCanonical(text, portable(item))
		h.Write(text)
	}
	h.Write([]byte{']'})
	return hex.EncodeToString(h.Sum(nil))
}

// portable returns an item without a derived URI.
func portable(item json.RawMessage) json.RawMessage {
	if !rawjson.True(rawjson.Get(item, "uriAuto")) {
		return item
	}
	var b rawjson.Builder
	return b.Object().Members(item, "uri").End().Bytes()
}

// persist writes the registry file, unless the file contains the list already. If a partial scan was merged into a file
// that another program has replaced, the error is errOvertaken.
func (c *Catalog) persist(ctx context.Context, s *state, r request, list *List) error {
	if list == s.unsaved && !r.force {
		return nil
	}
	there := c.inspect(s, list.Hash)
	if s.list == nil {
		s.firstHash = there
	}
	if there == list.Hash {
		return nil
	}
	text := writeEnvelope(list.JSON(), list.Hash, c.now(), c.store.limit)
	if text == nil {
		return limitError(fmt.Sprintf("%s exceeds %d byte cap", s.kind.Name, c.store.limit))
	}
	if c.o.ReadOnly {
		s.unsaved = list
		return nil
	}
	wait := c.store.wait
	if r.locked {
		wait = 0
	}
	stamp, err := c.store.write(ctx, s.kind, list.Hash, text, s.mergedInto, wait)
	var unwritable *atomicfile.UnwritableError
	switch {
	case err == nil:
		s.unsaved = nil
		s.file = c.versionOf(list.Hash, stamp)
	case errors.As(err, &unwritable) && !r.force:
		s.unsaved = list
		c.unwritableNotice.Do(func() {
			text := "Registry directory is not writable; keeping the registry in memory"
			if insecure, ok := errors.AsType[*trust.InsecureError](unwritable.Err); ok {
				text += ": " + insecure.Error()
			}
			c.log(mcp.Warning, access.RegistryLogger, text)
		})
		err = nil
	}
	return err
}

// inspect returns the hash of the registry file, or "" if there is no valid file. It does
// not read a file whose hash is want and whose stamp is unchanged.
func (c *Catalog) inspect(s *state, want string) string {
	if s.file.hash == want && s.file.stamp.Exists() && c.store.stamp(s.kind.File) == s.file.stamp {
		return want
	}
	file, err := c.store.read(s.kind)
	if err != nil {
		return ""
	}
	s.file = c.versionOf(file.hash, file.stamp)
	return file.hash
}

// A fileVersion identifies the content of a registry file at the time of a check.
type fileVersion struct {
	hash  string
	stamp folder.Stamp // zero: the file must be read to detect a change
}

// versionOf returns the version of a registry file, with its stamp if that is settled.
func (c *Catalog) versionOf(hash string, st folder.Stamp) fileVersion {
	if !st.Settled(c.store.clock(c.now())) {
		st = folder.Stamp{}
	}
	return fileVersion{hash, st}
}

// A limitError means that the registry file would be too large.
type limitError string

func (e limitError) Error() string { return string(e) }

// Portable returns the registry file of a kind for another machine, with the time generated and without paths of this
// machine. A URI of a file below root, the project's directory on this machine, becomes relative to the project.
func (c *Catalog) Portable(kind *kinds.Kind, root string, generated time.Time) ([]byte, error) {
	file, err := c.store.read(kind)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	for _, entry := range file.compact() {
		items = append(items, Moved(c.p, entry, root))
	}
	text := writeEnvelope(items, hashOf(items), generated, c.store.limit)
	if text == nil {
		return nil, folder.ErrTooLarge
	}
	return text, nil
}

// Moved returns an item whose URI does not depend on the path of the project.
func Moved(p *project.Project, entry json.RawMessage, root string) json.RawMessage {
	uri := rawjson.TextOf(entry, "uri")
	switch {
	case uri == "":
		return entry
	case rawjson.True(rawjson.Get(entry, "uriAuto")):
		path, ok := strings.CutPrefix(uri, item.FileURI(p.Resources, ".")+"/")
		if !ok {
			return entry
		}
		uri = "file://${MCPBASH_RESOURCES_DIR}/" + path
	default:
		path, ok := strings.CutPrefix(uri, item.FileURI(root, ".")+"/")
		if !ok {
			return entry
		}
		uri = "file://${MCPBASH_PROJECT_ROOT}/" + path
	}
	return rawjson.With(entry, "uri", rawjson.Quote(uri))
}
