package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mcp-bash/pkg/cli"
)

// A Request describes a change of a client's file.
type Request struct {
	Client *Client
	Server Server
	Place  Place
	File   string // instead of the client's usual one
	Scope  Scope
	Remove bool // remove the entry
	Force  bool // also change an entry that is not ours
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

// Apply adds, updates or removes the entry of a server in a client's file (CLI-711).
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
	backup, err := target.edit(ctx, r.Client.format.max, func(before before) ([]byte, error) {
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
	e, mark, err := r.Client.open(b.text)
	if err != nil {
		return nil, fmt.Errorf("not %s: %w", r.Client.format.name, err)
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

// put writes an entry, even if the editor cannot replace all its values in their places, such as a list in YAML.
func put(e editor, entry json.RawMessage, path []string) error {
	err := e.Set(entry, path...)
	if err != nil {
		if err = e.Remove(path...); err == nil {
			err = e.Set(entry, path...)
		}
	}
	return err
}

// removesGone reports whether the request is to remove an entry that cannot work.
func (r Request) removesGone(entry json.RawMessage) bool {
	if !r.Remove || r.Server.Remote != nil {
		return false
	}
	command, root := r.Client.started(entry)
	why, _ := gone(command, root)
	return command != "" && why != ""
}

// without removes our entry. If the backup shows that the text is the backup with our entry
// added, it returns the backup. It returns nil if we wrote the whole file.
func (r Request) without(b before, entry []byte, e editor, mark []byte) ([]byte, error) {
	path := r.Client.path(r.Server.Name)
	add := func(text []byte) []byte {
		e, mark, err := r.Client.open(text)
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
