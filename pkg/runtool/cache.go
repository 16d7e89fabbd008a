package runtool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// readCache returns the tools of .registry/tools.json without a scan (--no-refresh).
func readCache(p *project.Project) ([]json.RawMessage, error) {
	text, err := registry.NewCatalog(p, registry.Options{}).File(kinds.Tools)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Failf(cli.CodeNotFound, "registry cache missing (expected %s)",
			filepath.Join(p.Registry, kinds.Tools.File))
	}
	invalid := func(reason string) error {
		return cli.Failf(cli.CodeInvalid, "invalid tools registry cache (%s)", reason)
	}
	if err != nil {
		return nil, invalid(err.Error())
	}
	doc, err := rawjson.Check(text)
	switch {
	case err != nil:
		return nil, invalid("unreadable JSON: " + err.Error())
	case rawjson.TextOf(doc, "hash") == "":
		return nil, invalid("missing hash")
	case rawjson.KindOf(rawjson.Get(doc, "total")) != rawjson.Number:
		return nil, invalid("non-numeric total")
	case rawjson.KindOf(rawjson.Get(doc, "items")) != rawjson.Array:
		return nil, invalid("items is not an array")
	}
	items := []json.RawMessage{}
	for item := range rawjson.Elements(rawjson.Get(doc, "items")) {
		items = append(items, rawjson.Normal(item))
	}
	return items, nil
}
