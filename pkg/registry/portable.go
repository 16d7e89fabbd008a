package registry

import (
	"encoding/json"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

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
