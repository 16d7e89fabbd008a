package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients/internal/format"
	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/rawjson"
)

// A Request describes a change of a client's file.
type Request struct {
	Client *Client
	Server Server
	Place  Place
	File   string // a path instead of the client's default
	Scope  Scope
	Remove bool // remove the entry
	Force  bool // also change an entry that starts another server
	DryRun bool
}

// The actions of a Change.
const (
	Added     = "added"
	Updated   = "updated"
	Unchanged = "unchanged"
	Removed   = "removed"
	Absent    = "absent"
)

// A Change describes the change of a file, whether or not it was written.
type Change struct {
	Action string
	File   string // the path of the client's file
	Backup string // the path of the backup; "" if none was written
	// Old and New are the texts before and after. nil means that there is no file.
	Old, New []byte
}

// Apply adds, updates or removes the entry of a server in a client's file.
func Apply(ctx context.Context, r Request) (*Change, error) {
	if err := r.connects(); err != nil {
		return nil, err
	}
	target, err := r.target()
	if err != nil {
		return nil, err
	}
	target.dry = r.DryRun
	r.Server = r.forFile()
	var change *Change
	backup, err := target.edit(ctx, r.Client.max, func(before before) ([]byte, error) {
		var err error
		change, err = r.edited(before)
		if err != nil {
			return nil, target.failed(err)
		}
		return change.New, nil
	})
	if err != nil {
		return nil, err
	}
	change.File, change.Backup = target.path, backup
	return change, nil
}

func (r Request) edited(b before) (*Change, error) {
	e, mark, err := r.Client.open(r.Place.Open, b.text)
	if err != nil {
		return nil, fmt.Errorf("not %s: %w", r.Client.Format, err)
	}
	path := r.Client.path(r.Server.Name)
	entry, err := e.Get(path...)
	if err != nil {
		return nil, err
	}
	change := &Change{Old: b.text}
	if why := r.Client.foreign(entry, r.Server); entry != nil && why != "" && !r.Force && !r.removesGone(entry) {
		return nil, cli.Failf(cli.CodeExists, "%s is already another server: %s; choose another name with --name, or "+
			"replace it with --force", r.Server.Name, why)
	}
	switch {
	case r.Remove && entry == nil:
		change.Action, change.New = Absent, b.text
		return change, nil
	case r.Remove:
		change.Action = Removed
		change.New, err = r.without(b, entry, e, mark)
		return change, err
	case entry == nil:
		change.Action = Added
		err = e.Set(r.Client.entryFor(r.Server), path...)
	case r.Force:
		change.Action = Updated
		err = put(e, r.Client.entryFor(r.Server), path)
	default:
		change.Action = Updated
		complete := entry
		for _, one := range r.Client.lacking(entry, r.Server) {
			complete = one.in(complete)
			if err == nil {
				err = e.Set(one.value, r.Client.path(r.Server.Name, one.path...)...)
			}
		}
		if err != nil && r.Server.Package != nil {
			err = put(e, complete, path)
		}
	}
	if err != nil {
		return nil, err
	}
	change.New = slices.Concat(mark, e.Bytes())
	if b.there && bytes.Equal(change.New, b.text) {
		change.Action = Unchanged
	}
	return change, nil
}

// put writes an entry. If the editor cannot change a value in place, such as a list in YAML, put replaces the whole
// entry.
func put(e format.Editor, entry json.RawMessage, path []string) error {
	err := e.Set(entry, path...)
	if err != nil {
		if err = e.Remove(path...); err == nil {
			err = e.Set(entry, path...)
		}
	}
	return err
}

// removesGone reports whether the request removes an entry that cannot work.
func (r Request) removesGone(entry json.RawMessage) bool {
	if !r.Remove || r.Server.Remote != nil {
		return false
	}
	command, root := r.Client.started(entry)
	why, _ := gone(command, root)
	return command != "" && why != ""
}

// without removes our entry. If only our entry was added after the backup was made, it returns the backup. It returns
// nil if this program wrote the whole file.
func (r Request) without(b before, entry []byte, e format.Editor, mark []byte) ([]byte, error) {
	path := r.Client.path(r.Server.Name)
	add := func(text []byte) []byte {
		e, mark, err := r.Client.open(r.Place.Open, text)
		if err != nil {
			return nil
		}
		if present, err := e.Get(path...); present != nil || err != nil || e.Set(entry, path...) != nil {
			return nil
		}
		return slices.Concat(mark, e.Bytes())
	}
	if b.backup != nil && bytes.Equal(add(b.backup), b.text) {
		return b.backup, nil
	}
	if b.backup == nil && bytes.Equal(add(nil), b.text) {
		return nil, nil
	}
	if err := e.Remove(path...); err != nil {
		return nil, err
	}
	return slices.Concat(mark, e.Bytes()), nil
}

const backupSuffix = ".mcp-bash.bak"

// lockWait limits the wait for another command that edits the same file.
const lockWait = 5 * time.Second

// newMode is the mode of a new file. Other users do not need to know which servers a user runs.
const newMode fs.FileMode = 0o600

type before struct {
	text   []byte
	there  bool // the file exists
	backup []byte
}

// edit replaces the text of a file by the result of change. A nil result deletes the file. A
// symbolic link to the file is kept. edit returns the path of a backup of the old text.
func (t target) edit(ctx context.Context, max int, change func(before) ([]byte, error)) (backup string,
	err error) {
	path, err := t.resolve()
	if err != nil {
		return "", err
	}
	dir, err := t.openDir(filepath.Dir(path))
	if err != nil {
		return "", t.failed(err)
	}
	if dir == nil { // the directory would be created
		_, err = change(before{})
		return "", err
	}
	defer dir.Close()
	base := filepath.Base(path)
	o := userfile.Options{Max: max, Mode: newMode, Backup: base + backupSuffix, Wait: lockWait, DryRun: t.dry}
	kept, err := userfile.Edit(ctx, dir, base, o, func(f userfile.File) ([]byte, error) {
		backup, err := boundedfile.ReadIn(dir, o.Backup, max)
		if err != nil {
			backup = nil // an unreadable backup is ignored
		}
		return change(before{f.Text, f.There, backup})
	})
	var locked *atomicfile.LockedError
	switch {
	case errors.As(err, &locked):
		return "", cli.Failf(cli.CodeTimeout, "%s: another mcp-bash config is editing it; try again", path)
	case err != nil && err == context.Cause(ctx):
		return "", err
	case err != nil:
		return "", t.failed(err)
	case kept:
		return filepath.Join(filepath.Dir(path), o.Backup), nil
	}
	return "", nil
}

func (t target) failed(err error) error {
	if e, ok := err.(*cli.Error); ok {
		return e
	}
	if fsys.Escapes(err) {
		err = errors.New("a symbolic link on its path leads out of the project; name the file with --file")
	}
	if t.dry {
		return cli.Failf(cli.CodeInvalid, "%s: %v", t.path, fsys.Cause(err))
	}
	return cli.Failf(cli.CodeInvalid, "%s: %v; nothing was changed", t.path, fsys.Cause(err))
}

// resolve follows symbolic links to the path of the file, which may not exist yet.
func (t target) resolve() (string, error) {
	path, err := filepath.EvalSymlinks(t.path)
	if err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", t.failed(err)
	}
	if _, err := os.Lstat(t.path); err == nil {
		return "", t.failed(errors.New("a link that leads nowhere; remove it, or create its target"))
	}
	// Resolve the part of the path that exists.
	rest := filepath.Base(t.path)
	for dir := filepath.Dir(t.path); ; dir = filepath.Dir(dir) {
		if physical, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(physical, rest), nil
		} else if _, lerr := os.Lstat(dir); lerr == nil || dir == filepath.Dir(dir) {
			return "", t.failed(fmt.Errorf("%s: %w", dir, fsys.Cause(err)))
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// openDir opens the directory of the file, and creates it if it is missing. If t.dry is true,
// it does not create it and returns nil.
func (t target) openDir(dir string) (*os.Root, error) {
	if t.inside == "" {
		if !t.dry {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
		return orNone(os.OpenRoot(dir))
	}
	root, err := os.OpenRoot(t.inside)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(t.inside, dir)
	if err != nil {
		return nil, err
	}
	if !filepath.IsLocal(rel) {
		return nil, errors.New("a symbolic link on its path leads out of the project; name the file with --file")
	}
	if !t.dry {
		if err := root.MkdirAll(rel, 0o755); err != nil {
			return nil, err
		}
	}
	return orNone(root.OpenRoot(rel))
}

func orNone(dir *os.Root, err error) (*os.Root, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return dir, err
}

func (c *Client) open(open Opener, text []byte) (e format.Editor, mark []byte, err error) {
	if bytes.HasPrefix(text, rawjson.ByteOrderMark) {
		mark, text = rawjson.ByteOrderMark, text[len(rawjson.ByteOrderMark):]
	}
	if len(bytes.TrimSpace(text)) == 0 && c.Fresh != "" {
		text = []byte(c.Fresh)
	}
	e, err = open(c.Format, c.Commas, c.List, text)
	return e, mark, err
}
