package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// persist writes the registry file, unless the file contains the list already. If a partial
// scan was merged into a file that another program has replaced, the error is errOvertaken
//
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
		return &limitError{s.kind, c.store.limit}
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

// A fileVersion is a registry file as a check saw it.
type fileVersion struct {
	hash  string
	stamp folder.Stamp // zero: only reading the file shows whether it has changed
}

// versionOf returns the version of a registry file, with its stamp if that is settled.
func (c *Catalog) versionOf(hash string, st folder.Stamp) fileVersion {
	if !st.Settled(c.store.clock(c.now())) {
		st = folder.Stamp{}
	}
	return fileVersion{hash, st}
}

// A limitError means that the registry file would be too large.
type limitError struct {
	kind  *kinds.Kind
	limit int
}

func (e *limitError) Error() string {
	return fmt.Sprintf("%s exceeds %d byte cap", e.kind.Name, e.limit)
}

// Portable returns the registry file of a kind for another machine, with the time generated
// and without paths of this machine. A URI of a file below root, the project's directory on
// this machine, becomes relative to the project (CLI-1418).
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
